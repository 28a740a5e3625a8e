#include "lang/analysis/access.h"

#include <algorithm>

#include "lang/analysis/dataflow.h"
#include "lang/analysis/region.h"

namespace kiln {
namespace {

Indices IndicesAt(const Program& p, absl::Span<const Id> marks) {
  Indices indices;
  for (const Id mark : marks) indices.push_back(p.SumOf(mark));
  return indices;
}

bool IsWhole(const IndexSplit& split) { return split.lower == 1 && split.extent == 0; }

bool IsOneSource(const IndexSum& sum) {
  return sum.offset == 0 && sum.splits.size() == 1 && sum.splits[0].scale == 1 && IsWhole(sum.splits[0]);
}

// Returns the live loop whose next iteration increases an index by 1: the loop that alone binds the iter with scale 1.
// The index may have other terms only if all its terms are spatial iters and the other scales are multiples of that
// iter's extent: in g * 16 + c with c < 16, it is the loop of c. Otherwise, and for an index with an offset, returns
// kNone.
Id StepsByOne(const Program& p, Id block, const Bindings& bindings, const IndexSum& index) {
  const auto iters = p.Iters(p.block(block).iters);
  const auto one = std::find_if(index.splits.begin(), index.splits.end(),
                                [](const IndexSplit& s) { return s.scale == 1; });
  if (one == index.splits.end() || one->source.kind != Source::Kind::kIter || index.offset != 0) return kNone;
  const IndexSum& binding = bindings.iters[one->source.id];
  if (!IsWhole(*one) || !IsOneSource(binding) || binding.splits[0].source.kind != Source::Kind::kLoop)
    return kNone;
  const bool over = std::all_of(index.splits.begin(), index.splits.end(), [&](const IndexSplit& other) {
    return &other == &*one || (other.source.kind == Source::Kind::kIter && IsWhole(other) &&
                               iters[other.source.id].kind == IterKind::kSpatial &&
                               iters[one->source.id].kind == IterKind::kSpatial &&
                               other.scale % iters[one->source.id].extent.Known() == 0);
  });
  return over ? binding.splits[0].source.id : kNone;
}

}  // namespace

Indices ResultIndices(const Program& p, Id block) {
  return IndicesAt(p, p.List(p.Accesses(p.block(block).dests)[0].index));
}

std::vector<Indices> ReadIndices(const Program& p, Id block) {
  std::vector<Indices> reads;
  for (const Id load : Loads(p, block)) reads.push_back(IndicesAt(p, p.List(p.exprs[load].AsLoad().index)));
  return reads;
}

std::vector<std::vector<std::optional<int64_t>>> ReadSteps(const Program& p, Id block, Id loop) {
  std::vector<std::vector<std::optional<int64_t>>> steps;
  for (const Id load : Loads(p, block)) {
    steps.emplace_back();
    for (const Id mark : p.List(p.exprs[load].AsLoad().index))
      steps.back().push_back(StepOf(p, block, mark, loop));
  }
  return steps;
}

std::vector<Id> LoopsAlong(const Bindings& bindings, const IndexSum& index) {
  std::vector<Id> loops;
  for (const IndexSplit& split : index.splits) {
    if (split.source.kind != Source::Kind::kIter) continue;
    for (const IndexSplit& part : bindings.iters[split.source.id].splits)
      if (part.source.kind == Source::Kind::kLoop) loops.push_back(part.source.id);
  }
  return loops;
}

bool ReadsAtIters(const Program& p, Id block, bool offsets) {
  const std::vector<Id> loads = Loads(p, block);
  return std::all_of(loads.begin(), loads.end(), [&](Id load) {
    const auto index = p.List(p.exprs[load].AsLoad().index);
    return std::all_of(index.begin(), index.end(), [&](Id mark) {
      const std::optional<SimpleIndex> simple = AsSimpleIndex(p, mark);
      return p.marks[mark].splits.count == 0 || (simple.has_value() && (offsets || simple->offset == 0));
    });
  });
}

Id CopiedLoad(const Program& p, Id block) {
  const BlockNode& b = p.block(block);
  if (b.monoid != kNone || b.dests.count != 1) return kNone;
  const Id value = p.List(b.values)[0];
  if (p.exprs[value].op != Op::kWithin) return p.exprs[value].op == Op::kLoad ? value : kNone;
  const auto [marks, inside, otherwise] = p.exprs[value].AsWithin();
  return p.exprs[inside].op == Op::kLoad && p.exprs[otherwise].IsConstant(0) ? inside : kNone;
}

bool AccessPattern::DependsOn(int loop) const {
  return std::any_of(loops.begin(), loops.end(), [&](const std::set<int>& of) { return of.contains(loop); });
}

AccessPattern AccessOf(const Program& p, Id block, Id buffer, bool groups) {
  constexpr int kUnknown = -2;
  const std::vector<Id> around = LoopsAround(p, block);
  const Bindings bindings = ResolveBindings(p, block);
  const auto position = [&](Id loop) {
    return static_cast<int>(std::find(around.begin(), around.end(), loop) - around.begin());
  };
  AccessPattern access;
  access.steps.assign(p.buffers[buffer].shape.count, kUnknown);
  access.loops.resize(access.steps.size());
  for (const Id load : LoadsOf(p, block, buffer)) {
    const Indices indices = IndicesAt(p, p.List(p.exprs[load].AsLoad().index));
    for (size_t d = 0; d < indices.size(); ++d) {
      for (const Id loop : LoopsAlong(bindings, indices[d])) access.loops[d].insert(position(loop));
      const bool steps_over = indices[d].splits.size() > 1;
      const Id loop = steps_over && !groups ? kNone : StepsByOne(p, block, bindings, indices[d]);
      const int steps = loop == kNone ? -1 : position(loop);
      access.steps[d] = access.steps[d] == kUnknown || access.steps[d] == steps ? steps : -1;
    }
  }
  return access;
}

bool IsReusedWhole(const Program& p, Id block, const AccessPattern& access) {
  const std::vector<Id> around = LoopsAround(p, block);
  const std::vector<bool> walks = Feeds(p, block, IterKind::kSpatial);
  for (size_t i = 0; i < around.size(); ++i)
    if (walks[i] && p.loop(around[i]).extent.Known() > 1 && !access.DependsOn(static_cast<int>(i)))
      return true;
  return false;
}

int LastWindow(const Program& p, Id block) {
  const std::vector<Id> around = LoopsAround(p, block);
  const std::vector<bool> reduces = Feeds(p, block, IterKind::kReduction);
  const Bindings bindings = ResolveBindings(p, block);
  int window = -1;
  for (const Indices& read : ReadIndices(p, block)) {
    for (const IndexSum& index : read) {
      int reduction = -1;
      bool spatial = false;
      for (const Id loop : LoopsAlong(bindings, index)) {
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
