// How a block reads its operands.
#include <algorithm>

#include "lang/analysis/dataflow.h"
#include "modules/tiling/pack_operands.h"

namespace kiln {
namespace {

bool IsWhole(const Split& split) { return split.lower == 1 && split.extent == 0; }

bool IsPlain(const Sum& sum) {
  return sum.offset == 0 && sum.splits.size() == 1 && sum.splits[0].scale == 1 && IsWhole(sum.splits[0]);
}

// The loop that an index over iters moves along in steps of one: the only one, or among spatial ones that
// step over all of its iterations, as groups do over the channels of each. kNone: there is none.
Id StepsByOne(const Program& p, Id block, const Bindings& bindings, const Sum& sum) {
  const auto iters = p.Iters(p.block(block).iters);
  const auto one =
      std::find_if(sum.splits.begin(), sum.splits.end(), [](const Split& s) { return s.scale == 1; });
  if (one == sum.splits.end() || one->source.kind != Source::Kind::kIter || sum.offset != 0) return kNone;
  const Sum& binding = bindings.iters[one->source.id];
  if (!IsWhole(*one) || !IsPlain(binding) || binding.splits[0].source.kind != Source::Kind::kLoop)
    return kNone;
  const bool over = std::all_of(sum.splits.begin(), sum.splits.end(), [&](const Split& other) {
    return &other == &*one || (other.source.kind == Source::Kind::kIter && IsWhole(other) &&
                               iters[other.source.id].kind == IterKind::kSpatial &&
                               iters[one->source.id].kind == IterKind::kSpatial &&
                               other.scale % iters[one->source.id].extent.Known() == 0);
  });
  return over ? binding.splits[0].source.id : kNone;
}

}  // namespace

bool OperandIndex::DependsOn(int loop) const {
  return std::any_of(loops.begin(), loops.end(), [&](const std::set<int>& of) { return of.contains(loop); });
}

OperandIndex IndexOf(const Program& p, Id block, Id buffer) {
  const std::vector<Id> around = LoopsAround(p, block);
  const Bindings bindings = ResolveBindings(p, block);
  OperandIndex index;
  index.dims.assign(p.buffers[buffer].shape.count, -2);
  index.loops.resize(index.dims.size());
  for (const Id load : LoadsOf(p, block, buffer)) {
    const Expr& e = p.exprs[load];
    for (size_t d = 0; d < index.dims.size(); ++d) {
      const Sum sum = p.SumOf(p.List(e.AsLoad().index)[d]);
      const auto position = [&](Id loop) {
        return static_cast<int>(std::find(around.begin(), around.end(), loop) - around.begin());
      };
      for (const Id loop : LoopsOfIndex(bindings, sum)) index.loops[d].insert(position(loop));
      const Id loop = StepsByOne(p, block, bindings, sum);
      const int steps = loop == kNone ? -1 : position(loop);
      index.dims[d] = index.dims[d] == -2 || index.dims[d] == steps ? steps : -1;
    }
  }
  return index;
}

bool IsReusedWhole(const Program& p, Id block, const OperandIndex& index) {
  const std::vector<Id> around = LoopsAround(p, block);
  const std::vector<bool> walks = Feeds(p, block, IterKind::kSpatial);
  for (size_t i = 0; i < around.size(); ++i)
    if (walks[i] && p.loop(around[i]).extent.Known() > 1 && !index.DependsOn(static_cast<int>(i)))
      return true;
  return false;
}

int LastWindow(const Program& p, Id block, const std::vector<bool>& reduces) {
  const std::vector<Id> around = LoopsAround(p, block);
  const Bindings bindings = ResolveBindings(p, block);
  int window = -1;
  for (const Id load : Loads(p, block)) {
    for (const Id mark : p.List(p.exprs[load].AsLoad().index)) {
      int reduction = -1;
      bool spatial = false;
      for (const Id loop : LoopsOfIndex(bindings, p.SumOf(mark))) {
        const auto at = std::find(around.begin(), around.end(), loop) - around.begin();
        if (!reduces[at]) spatial = true;
        if (reduces[at] && p.loop(loop).extent.Known() > 1)
          reduction = std::max(reduction, static_cast<int>(at));
      }
      if (spatial) window = std::max(window, reduction);
    }
  }
  return window;
}

}  // namespace kiln
