#include "lang/analysis/guards.h"

#include <algorithm>

#include "absl/algorithm/container.h"
#include "absl/container/flat_hash_set.h"
#include "lang/analysis/dataflow.h"
#include "lang/analysis/region.h"

namespace kiln {
namespace {

// True if the guard only checks that the iter lies within its own extent.
bool Guards(const Program& p, const Bindings& bindings, const Guard& guard, int iter) {
  return guard.extent == p.Iters(p.block(bindings.block).iters)[iter].extent.UpperBound() &&
         guard.value == bindings.iters[iter];
}
bool IsGuarded(const Program& p, const Bindings& bindings, int iter) {
  return std::any_of(bindings.guards.begin(), bindings.guards.end(),
                     [&](const Guard& guard) { return Guards(p, bindings, guard, iter); });
}

bool IsInner(const Program& p, const Bindings& bindings, const Guard& guard) {
  for (int i = 0; i < static_cast<int>(bindings.iters.size()); ++i)
    if (Guards(p, bindings, guard, i)) return false;
  return true;
}

// True if the guard only keeps a mark below its extent, the loops below `at` alone give the mark all its values, and
// iters depend on these loops only through the mark.
bool KeepsMark(const Program& p, const Bindings& bindings, const Guard& guard, Id at) {
  for (const IndexSum& iter : bindings.iters) {
    for (const IndexSplit& split : iter.splits) {
      if (split.source.kind != Source::Kind::kMark) continue;
      const Id mark = split.source.id;
      if (p.marks[mark].extent.UpperBound() != guard.extent || !IsMadeBelow(p, mark, at)) continue;
      return Resolver(p).Resolve(split.source) == guard.value && TakesEveryValue(p, mark, at) &&
             absl::c_all_of(bindings.iters, [&](const IndexSum& other) { return IsAlone(p, mark, other); });
    }
  }
  return false;
}

// True if the block loads from the buffer under a condition other than that an index lies inside the buffer.
bool LoadsConditionally(const Program& p, Id block, Id buffer) {
  const std::vector<Id> exprs = BodyExprs(p, block);  // operands before users
  for (size_t w = 0; w < exprs.size(); ++w) {
    const Expr& within = p.exprs[exprs[w]];
    if (within.op != Op::kWithin) continue;
    absl::flat_hash_set<Id> below = {within.AsWithin().value};
    for (size_t i = w; i-- > 0;) {
      const Expr& e = p.exprs[exprs[i]];
      if (!below.contains(exprs[i])) continue;
      if (e.op == Op::kLoad && e.AsLoad().buffer == buffer && !BoundsAreTheBuffers(p, within, e)) return true;
      below.insert(e.Operands().begin(), e.Operands().end());
    }
  }
  return false;
}

}  // namespace

bool BoundsAreTheBuffers(const Program& program, const Expr& within, const Expr& load) {
  const auto index = program.List(load.AsLoad().index);
  const auto shape = program.Dims(program.buffers[load.AsLoad().buffer].shape);
  return absl::c_all_of(program.List(within.AsWithin().marks), [&](Id mark) {
    for (size_t d = 0; d < index.size(); ++d)
      if (program.SumOf(mark) == program.SumOf(index[d]) && program.marks[mark].extent == shape[d])
        return true;
    return false;
  });
}

bool HasInnerGuards(const Program& program, const Bindings& bindings) {
  return absl::c_any_of(bindings.guards,
                        [&](const Guard& guard) { return IsInner(program, bindings, guard); });
}

bool HasInnerGuards(const Program& program, const Bindings& bindings, Id at) {
  return absl::c_any_of(bindings.guards, [&](const Guard& guard) {
    return IsInner(program, bindings, guard) && !KeepsMark(program, bindings, guard, at);
  });
}

std::vector<int> EmptyingIters(const Program& program, const Bindings& bindings, Id at) {
  std::vector<int> emptying;
  const Extents extents(program);
  const auto iters = program.Iters(program.block(bindings.block).iters);
  for (int i = 0; i < static_cast<int>(iters.size()); ++i) {
    if (!IsGuarded(program, bindings, i)) continue;
    const std::optional<DimRange> range = IterRange(program, bindings, i, at);
    const Interval base = range.has_value() ? Bounds(range->base, extents) : Interval();
    if (!range.has_value() || base.max >= iters[i].extent.UpperBound() || base.min + range->extent <= 0)
      emptying.push_back(i);
  }
  return emptying;
}

bool ReadsLessThanRegion(const Program& program, const Bindings& bindings, Id buffer) {
  const auto iters = program.Iters(program.block(bindings.block).iters);
  const auto shape = program.Dims(program.buffers[buffer].shape);
  for (const Id load : LoadsOf(program, bindings.block, buffer)) {
    const Expr& e = program.exprs[load];
    const auto index = program.List(e.AsLoad().index);
    for (size_t d = 0; d < index.size(); ++d) {
      const std::optional<SimpleIndex> simple = AsSimpleIndex(program, index[d]);
      if (simple.has_value() && simple->offset == 0 && iters[simple->iter].extent == shape[d]) continue;
      for (const IndexSplit& split : program.Splits(program.marks[index[d]].splits)) {
        if (IsGuarded(program, bindings, split.source.id)) return true;
      }
    }
  }
  return GathersFrom(program, bindings.block, buffer) || LoadsConditionally(program, bindings.block, buffer);
}

bool WritesItsRegion(const Program& program, const Bindings& bindings, Id buffer) {
  return program.block(bindings.block).domain.count == 0 && !HasInnerGuards(program, bindings) &&
         IsDense(WrittenRegion(program, bindings, buffer, kRoot));
}

}  // namespace kiln
