// How a block reads an operand.
#include <algorithm>

#include "lang/analysis/dataflow.h"
#include "modules/pack_operands.h"

namespace kiln {
namespace {

bool IsPlain(const Sum& sum) {
  return sum.offset == 0 && sum.splits.size() == 1 && sum.splits[0].scale == 1 && sum.splits[0].lower == 1 &&
         sum.splits[0].extent == 0;
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
  for (const Id load : Loads(p, block)) {
    const Expr& e = p.exprs[load];
    if (e.a != buffer) continue;
    for (size_t d = 0; d < index.dims.size(); ++d) {
      const Sum sum = p.SumOf(p.List({e.b, e.c})[d]);
      std::vector<int> positions;
      for (const Id loop : LoopsOfIndex(bindings, sum))
        positions.push_back(static_cast<int>(std::find(around.begin(), around.end(), loop) - around.begin()));
      index.loops[d].insert(positions.begin(), positions.end());
      const bool plain =
          !positions.empty() && IsPlain(sum) && IsPlain(bindings.iters[sum.splits[0].source.id]);
      const int alone = plain ? positions[0] : -1;
      index.dims[d] = index.dims[d] == -2 || index.dims[d] == alone ? alone : -1;
    }
  }
  return index;
}

bool IsReusedWhole(const Program& p, Id block, const OperandIndex& index) {
  const std::vector<Id> around = LoopsAround(p, block);
  const std::vector<bool> walks = Feeds(p, block, IterKind::kSpatial);
  for (size_t i = 0; i < around.size(); ++i)
    if (walks[i] && p.loop(around[i]).extent.max > 1 && !index.DependsOn(static_cast<int>(i))) return true;
  return false;
}

}  // namespace kiln
