#include "modules/pack_operands.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "lang/analysis/dataflow.h"

namespace kiln {
namespace {

bool IsPlain(const Sum& sum) {
  return sum.offset == 0 && sum.splits.size() == 1 && sum.splits[0].scale == 1 && sum.splits[0].lower == 1 &&
         sum.splits[0].extent == 0;
}

// The layout of the operand, a copy, in panels as wide as its innermost tiles.
void LayOutPanels(Schedule& s, Block block, int operand, const OperandIndex& index, const Tiles& tiles) {
  std::vector<std::string> names, panels, whole, inner;
  std::vector<Factor> widths;
  for (const int position : index.dims) {
    const std::string name = absl::StrCat("d", names.size()), number = absl::StrCat("$", widths.size());
    names.push_back(name);
    if (position < 0 || !tiles.width[position].has_value()) {
      whole.push_back(name);
      continue;
    }
    panels.push_back(absl::StrCat(name, "/", number));
    inner.push_back(absl::StrCat(name, "%", number));
    widths.push_back(*tiles.width[position]);
  }
  if (widths.empty()) return;
  panels.insert(panels.end(), whole.begin(), whole.end());
  panels.insert(panels.end(), inner.begin(), inner.end());
  s.TransformLayout(block, operand,
                    absl::StrCat("(", absl::StrJoin(names, ", "), ") -> (", absl::StrJoin(panels, ", "), ")"),
                    widths);
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

void PackOperand(Schedule& s, Block block, int operand, const OperandIndex& index, const Tiles& tiles) {
  const auto reads = [&](Loop loop) {
    const auto part = std::find_if(tiles.parts.begin(), tiles.parts.end(), [&](const auto& parts) {
      return std::any_of(parts.begin(), parts.end(), [&](Loop l) { return l.number == loop.number; });
    });
    return part != tiles.parts.end() && index.DependsOn(static_cast<int>(part - tiles.parts.begin()));
  };
  const auto again = std::find_if_not(tiles.between.begin(), tiles.between.end(), reads);
  const bool deeper = again != tiles.between.begin() && again != tiles.between.end();
  const Block copy = s.CacheRead(block, operand);
  s.ComputeAt(copy, deeper ? *(again - 1) : tiles.first_reduction);
  LayOutPanels(s, block, operand, index, tiles);
}

}  // namespace kiln
