#include "modules/tiling/pack_operands.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "lang/analysis/dataflow.h"
#include "modules/layout_map.h"

namespace kiln {
namespace {

// Changes the layout of an operand's packed copy to panels as wide as the innermost tiles:
//   (k, j) -> (j / width, k, j % width)
// If the intrinsic reads several k at once, these become the innermost dimension.
void LayOutPanels(Schedule& s, Block block, const TiledOperand& operand, const Tiles& tiles) {
  const std::vector<int>& steps = operand.access.steps;
  const std::vector<std::string> names = DimNames(steps.size());
  std::vector<std::string> panels, whole, inner, innermost;
  std::vector<Factor> widths;
  for (size_t d = 0; d < steps.size(); ++d) {
    const int position = steps[d];
    const std::string &name = names[d], number = absl::StrCat("$", widths.size());
    if (position >= 0 && tiles.reduces[position] && operand.together > 1) {
      whole.push_back(absl::StrCat(name, "/", number));
      innermost.push_back(absl::StrCat(name, "%", number));
      widths.push_back(operand.together);
      continue;
    }
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
  panels.insert(panels.end(), innermost.begin(), innermost.end());
  s.TransformLayout(block, operand.number, LayoutMap(names, panels), widths);
}

// For the packed copy of an operand that interleaves rows: reorders and vectorizes the copy's loops such that it stores
// one vector at a time. Does nothing unless the operand's last dimension is indexed by a spatial loop and another by a
// reduction loop.
//   for k, j: P[j, k] = B[k, j]   ->   for k0, j0: for j1, k1 in lanes: P[.., j0*16 + j1, k0*4 + k1] = B[..]
void InterleaveRows(Schedule& s, Block copy, const TiledOperand& operand, const Tiles& tiles) {
  if (!s.ok()) return;
  const std::vector<int>& steps = operand.access.steps;
  const int last = steps.back();
  const auto row =
      std::find_if(steps.begin(), steps.end(), [&](int loop) { return loop >= 0 && tiles.reduces[loop]; });
  if (last < 0 || tiles.reduces[last] || row == steps.end()) return;
  const Id buffer = WrittenBuffers(s.program(), s.node(copy))[0];
  const int64_t lanes = s.target().vector_bytes / SizeOf(s.program().buffers[buffer].dtype);
  std::vector<Loop> loops = s.GetLoops(copy);
  const auto dims = loops.end() - std::ssize(steps);
  const std::vector<Loop> rows = s.Split(dims[row - steps.begin()],
                                         std::vector<Factor>{kAuto, operand.together}),
                          columns =
                              s.Split(loops.back(), std::vector<Factor>{kAuto, lanes / operand.together});
  s.Reorder({rows[0], columns[0], columns[1], rows[1]});
  s.Vectorize(s.Fuse({columns[1], rows[1]}));
}

}  // namespace

void PackOperand(Schedule& s, Block block, const TiledOperand& operand, const Tiles& tiles) {
  const auto reads = [&](Loop loop) {
    const auto part = std::find_if(tiles.parts.begin(), tiles.parts.end(), [&](const auto& parts) {
      return std::any_of(parts.begin(), parts.end(), [&](Loop l) { return l.number == loop.number; });
    });
    return part != tiles.parts.end() &&
           operand.access.DependsOn(static_cast<int>(part - tiles.parts.begin()));
  };
  const auto again = std::find_if_not(tiles.between.begin(), tiles.between.end(), reads);
  const bool deeper = again != tiles.between.begin() && again != tiles.between.end();
  const Block copy = s.CacheRead(block, operand.number);
  s.ComputeAt(copy, deeper ? *(again - 1) : tiles.first_reduction);
  LayOutPanels(s, block, operand, tiles);
  if (operand.together > 1) InterleaveRows(s, copy, operand, tiles);
}

}  // namespace kiln
