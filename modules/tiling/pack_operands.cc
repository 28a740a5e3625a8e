#include "modules/tiling/pack_operands.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "lang/analysis/dataflow.h"

namespace kiln {
namespace {

// The layout of the operand, a copy, in panels as wide as its innermost tiles.
void LayOutPanels(Schedule& s, Block block, int operand, const OperandIndex& index, const Tiles& tiles) {
  std::vector<std::string> names, panels, whole, inner, innermost;
  std::vector<Factor> widths;
  for (const int position : index.dims) {
    const std::string name = absl::StrCat("d", names.size()), number = absl::StrCat("$", widths.size());
    names.push_back(name);
    if (position >= 0 && tiles.reduces[position] && index.together > 1) {
      whole.push_back(absl::StrCat(name, "/", number));
      innermost.push_back(absl::StrCat(name, "%", number));
      widths.push_back(index.together);
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
  s.TransformLayout(block, operand, LayoutMap(names, panels), widths);
}

// A copy that puts rows below each other together is made a vector of the result at a time:
//   for k, j: P[j, k] = B[k, j]   ->   for k0, j0: for j1, k1 in lanes: P[.., j0*16 + j1, k0*4 + k1] = B[..]
void InterleaveRows(Schedule& s, Block copy, const OperandIndex& index, const Tiles& tiles) {
  if (!s.ok()) return;
  const int last = index.dims.back();
  const auto row = std::find_if(index.dims.begin(), index.dims.end(),
                                [&](int loop) { return loop >= 0 && tiles.reduces[loop]; });
  if (last < 0 || tiles.reduces[last] || row == index.dims.end()) return;
  const Id buffer = WrittenBuffers(s.program(), s.node(copy))[0];
  const int64_t lanes = s.target().vector_bytes / SizeOf(s.program().buffers[buffer].dtype);
  std::vector<Loop> loops = s.GetLoops(copy);
  const auto dims = loops.end() - static_cast<int64_t>(index.dims.size());
  const std::vector<Loop> rows = s.Split(dims[row - index.dims.begin()],
                                         std::vector<Factor>{kAuto, index.together}),
                          columns = s.Split(loops.back(), std::vector<Factor>{kAuto, lanes / index.together});
  s.Reorder({rows[0], columns[0], columns[1], rows[1]});
  s.Vectorize(s.Fuse({columns[1], rows[1]}));
}

}  // namespace

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
  if (index.together > 1) InterleaveRows(s, copy, index, tiles);
}

}  // namespace kiln
