#include "lang/analysis/region.h"

#include <algorithm>

#include "lang/analysis/dataflow.h"
#include "lang/base/defect.h"

namespace kiln {
namespace {

// True if proven: the sum takes every value between its bounds.
bool Dense(const IndexSum& inner, const Extents& extents) {
  absl::InlinedVector<IndexSplit, 4> terms(inner.splits.begin(), inner.splits.end());
  std::sort(terms.begin(), terms.end(),
            [](const IndexSplit& a, const IndexSplit& b) { return std::abs(a.scale) < std::abs(b.scale); });
  int64_t reach = 0;
  for (size_t i = 0; i < terms.size(); ++i) {
    const IndexSplit& s = terms[i];
    const auto same = [&](const IndexSplit& other) { return other.source == s.source; };
    if (std::abs(s.scale) > reach + 1 ||
        std::any_of(terms.begin(), terms.begin() + static_cast<int64_t>(i), same) ||
        extents(s.source) % (s.lower * std::max<int64_t>(1, s.extent)) != 0) {
      return false;
    }
    reach += std::abs(s.scale) * (SplitRange(s, extents) - 1);
  }
  return true;
}

// Adds to `loops` the live loops with several iterations that a mark depends on. Returns false if the mark depends on
// an iter. Follows definitions without simplifying.
bool AddLoops(const Program& p, Id mark, std::vector<Id>& loops) {
  for (const IndexSplit& split : p.Splits(p.marks[mark].splits)) {
    const Source source = split.source;
    if (source.kind == Source::Kind::kIter) return false;
    if (source.kind == Source::Kind::kMark && !AddLoops(p, source.id, loops)) return false;
    if (source.kind != Source::Kind::kLoop) continue;
    if (p.nodes[source.id].kind == Node::Kind::kDead) {
      if (!AddLoops(p, p.loops[p.nodes[source.id].index].definition, loops)) return false;
    } else if (p.loop(source.id).extent.UpperBound() > 1) {
      loops.push_back(source.id);
    }
  }
  return true;
}

// Returns the range of a sum in one iteration of `at`: the terms over `at` and the loops outside of it are the base,
// and the others are bounded. A mark that depends on loops below `at` alone counts as a loop of its extent. Returns
// nullopt if the sum contains another mark.
std::optional<DimRange> Bound(const Program& p, const IndexSum& value, Id at, const Extents& extents) {
  DimRange range;
  IndexSum inner;
  bool whole = true;
  for (const IndexSplit& split : value.splits) {
    if (split.source.kind == Source::Kind::kMark) {
      if (!IsMadeBelow(p, split.source.id, at)) return std::nullopt;
      whole = whole && TakesEveryValue(p, split.source.id, at) && IsAlone(p, split.source.id, value);
    }
    const bool outside = split.source.kind == Source::Kind::kIter ||
                         (split.source.kind == Source::Kind::kLoop && IsAncestor(p, split.source.id, at));
    (outside ? range.base : inner).splits.push_back(split);
  }
  const Interval bounds = Bounds(inner, extents);
  range.base.offset = value.offset + bounds.min;
  range.extent = bounds.max - bounds.min + 1 - (KILN_DEFECT("region.bound") && bounds.max > bounds.min);
  range.dense = KILN_DEFECT("region.dense") || (whole && Dense(inner, extents));
  return range;
}

// Returns the region that an access with these indices touches. An index of kNone, or one that the algebra cannot
// bound, touches the whole dimension.
Region Touched(const Program& p, Id buffer, absl::Span<const int32_t> index, const Bindings& bindings,
               Id at) {
  const Extents extents(p);
  const auto shape = p.Dims(p.buffers[buffer].shape);
  Region region;
  region.reserve(index.size());
  for (size_t d = 0; d < index.size(); ++d) {
    std::optional<IndexSum> value;
    if (index[d] != kNone) {
      value = Substitute(
          p.SumOf(index[d]), [&](Source s) { return std::optional<IndexSum>(bindings.iters[s.id]); },
          extents);
    }
    std::optional<DimRange> range;
    if (value.has_value()) range = Bound(p, *value, at, extents);
    region.push_back(range.value_or(DimRange{IndexSum::Constant(0), shape[d].UpperBound()}));
  }
  return region;
}

bool Contains(const DimRange& whole, const DimRange& part) {
  return whole.base.splits == part.base.splits && whole.base.offset <= part.base.offset &&
         whole.base.offset + whole.extent >= part.base.offset + part.extent;
}

}  // namespace

bool IsMadeBelow(const Program& program, Id mark, Id at) {
  std::vector<Id> loops;
  return AddLoops(program, mark, loops) && std::all_of(loops.begin(), loops.end(), [&](Id loop) {
           return loop != at && IsAncestor(program, at, loop);
         });
}

bool TakesEveryValue(const Program& program, Id mark, Id at) {
  const std::optional<DimRange> made =
      Bound(program, Resolver(program).Resolve(Source::Mark(mark)), at, Extents(program));
  return made.has_value() && made->dense && made->base.IsConstant() && made->base.offset <= 0 &&
         made->base.offset + made->extent >= program.marks[mark].extent.UpperBound();
}

bool IsAlone(const Program& program, Id mark, const IndexSum& value) {
  std::vector<Id> loops;
  AddLoops(program, mark, loops);
  for (const IndexSplit& split : value.splits) {
    if (split.source == Source::Mark(mark)) continue;
    std::vector<Id> others;
    if (split.source.kind == Source::Kind::kLoop) others.push_back(split.source.id);
    if (split.source.kind == Source::Kind::kMark && !AddLoops(program, split.source.id, others)) return false;
    for (const Id loop : others)
      if (std::find(loops.begin(), loops.end(), loop) != loops.end()) return false;
  }
  return true;
}

std::optional<DimRange> IterRange(const Program& program, const Bindings& bindings, int iter, Id at) {
  return Bound(program, bindings.iters[iter], at, Extents(program));
}

DimRange Clipped(DimRange range, int64_t extent) {
  if (!range.base.IsConstant()) return range;
  const int64_t end = std::min(range.base.offset + range.extent, extent);
  range.base.offset = std::clamp<int64_t>(range.base.offset, 0, extent - 1);
  range.extent = std::max<int64_t>(end - range.base.offset, 1);
  return range;
}

Region Union(const Program& program, Id buffer, const Region& a, const Region& b) {
  if (a.empty() || Contains(b, a)) return b;
  if (b.empty() || Contains(a, b)) return a;
  const auto shape = program.Dims(program.buffers[buffer].shape);
  Region region;
  int differ = 0;
  for (size_t d = 0; d < a.size(); ++d) {
    if (a[d].base.splits != b[d].base.splits) {
      region.push_back({IndexSum::Constant(0), shape[d].UpperBound()});
      continue;
    }
    DimRange range = a[d];
    const int64_t gap = std::max(a[d].base.offset, b[d].base.offset) -
                        std::min(a[d].base.offset + a[d].extent, b[d].base.offset + b[d].extent);
    range.dense = a[d].dense && b[d].dense && gap <= 0;
    differ += !Contains(a[d], b[d]) || !Contains(b[d], a[d]);
    range.base.offset = std::min(a[d].base.offset, b[d].base.offset);
    range.extent =
        std::max(a[d].base.offset + a[d].extent, b[d].base.offset + b[d].extent) - range.base.offset;
    region.push_back(range);
  }
  for (DimRange& range : region) range.dense = range.dense && differ <= 1;  // else corners may be missing
  return region;
}

bool Contains(const Region& whole, const Region& part) {
  return std::equal(whole.begin(), whole.end(), part.begin(), part.end(),
                    [](const DimRange& w, const DimRange& r) { return Contains(w, r); });
}

bool IsDense(const Region& region) {
  return std::all_of(region.begin(), region.end(), [](const DimRange& r) { return r.dense; });
}

Region ReadRegion(const Program& program, const Bindings& bindings, Id buffer, Id at) {
  Region region;
  for (const Id load : LoadsOf(program, bindings.block, buffer)) {
    const Expr& e = program.exprs[load];
    region = Union(program, buffer, region,
                   Touched(program, buffer, program.List(e.AsLoad().index), bindings, at));
  }
  for (const Id gather : Gathers(program, bindings.block)) {
    const Expr& e = program.exprs[gather];
    if (e.AsGather().buffer != buffer) continue;
    region = Union(program, buffer, region,
                   Touched(program, buffer, GatherMarks(program, bindings.block, e), bindings, at));
  }
  return region;
}

Region WrittenRegion(const Program& program, const Bindings& bindings, Id buffer, Id at) {
  Region region;
  for (const Access& dest : program.Accesses(program.block(bindings.block).dests)) {
    if (dest.buffer != buffer) continue;
    region = Union(program, buffer, region, Touched(program, buffer, program.List(dest.index), bindings, at));
  }
  return region;
}

Making MakingOf(const Program& program, Id block, const Region& region) {
  Making making;
  std::vector<bool> exact;
  for (const Iter& iter : program.Iters(program.block(block).iters)) {
    making.ranges.push_back({IndexSum::Constant(0), iter.extent.UpperBound()});
    exact.push_back(iter.kind == IterKind::kReduction || iter.extent.UpperBound() == 1);
  }
  const auto index = program.List(program.Accesses(program.block(block).dests)[0].index);
  for (size_t d = 0; d < index.size(); ++d) {
    const std::optional<SimpleIndex> simple = AsSimpleIndex(program, index[d]);
    if (!simple.has_value()) continue;
    DimRange& range = making.ranges[simple->iter];
    DimRange part = region[d];
    part.base.offset -= simple->offset;
    part = Clipped(part, range.extent);
    if (part.extent >= range.extent && !part.base.IsConstant()) continue;
    range = part;
    exact[simple->iter] = true;
    if (KILN_DEFECT("compute-at.region") && range.extent > 1) --range.extent;
    if (KILN_DEFECT("compute-at.stale-base")) range.base.splits.clear();
  }
  making.exact = std::find(exact.begin(), exact.end(), false) == exact.end();
  return making;
}

std::vector<int32_t> GatherMarks(const Program& program, Id block, const Expr& gather) {
  const auto shape = program.Dims(program.buffers[gather.AsGather().buffer].shape);
  const Extents extents(program, block);
  std::vector<int32_t> marks;
  for (const Id index : program.GatherIndex(gather)) {
    const Expr& e = program.exprs[index];
    const Extent extent = shape[marks.size()];
    const bool affine = e.op == Op::kIndex;
    const Interval bounds =
        affine ? Bounds(Simplify(program.SumOf(e.AsIndex()), extents), extents) : Interval();
    marks.push_back(affine && bounds.min >= 0 && bounds.max < extent.LowerBound() ? e.AsIndex() : kNone);
  }
  return marks;
}

std::optional<SimpleIndex> AsSimpleIndex(const Program& program, Id mark) {
  const IndexMark& m = program.marks[mark];
  if (m.splits.count != 1) return std::nullopt;
  const IndexSplit& s = program.splits[m.splits.begin];
  if (s.source.kind != Source::Kind::kIter || s.scale != 1 || s.lower != 1 || s.extent != 0)
    return std::nullopt;
  return SimpleIndex{s.source.id, m.offset};
}

}  // namespace kiln
