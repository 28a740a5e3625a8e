#include "modules/tiling/vectorize_other_axis.h"

#include <algorithm>
#include <utility>

#include "absl/algorithm/container.h"
#include "absl/strings/str_cat.h"
#include "lang/analysis/access.h"
#include "lang/analysis/axes.h"
#include "lang/analysis/dataflow.h"
#include "modules/layout_map.h"

namespace kiln {
namespace {

// Returns the loop that moves along dimension `dim` of the result in steps of more than one element and fills vectors.
// Returns nullopt if there is none, or if the index of this dimension has a constant term.
std::optional<VectorAxis> FindSteps(const Program& p, const Bindings& bindings, size_t dim, int64_t lanes) {
  const std::vector<Id> around = LoopsAround(p, bindings.block);
  const IndexSum index = ResultIndices(p, bindings.block)[dim];
  if (index.offset != 0) return std::nullopt;
  for (const IndexSplit& split : index.splits) {
    IndexSum alone;
    alone.splits.push_back(split);
    const std::vector<Id> loops = LoopsAlong(bindings, alone);
    if (split.scale <= 1 || split.lower != 1 || split.extent != 0 || loops.size() != 1 ||
        p.loop(loops[0]).extent.Known() % lanes != 0)
      continue;
    const auto at = std::find(around.begin(), around.end(), loops[0]) - around.begin();
    return VectorAxis{.loop = static_cast<size_t>(at), .dim = dim, .step = split.scale};
  }
  return std::nullopt;
}

// Returns true if vectors along `last` would read an operand with gaps, and vectors along `other` read one element of
// it for all lanes.
bool LeavesGapsAlong(const Program& p, Id block, Id last, Id other) {
  const auto along_last = ReadSteps(p, block, last), along_other = ReadSteps(p, block, other);
  for (size_t i = 0; i < along_last.size(); ++i) {
    if (!along_last[i].empty() && along_last[i].back().value_or(1) > 1 &&
        absl::c_all_of(along_other[i], [](std::optional<int64_t> step) { return step == 0; }))
      return true;
  }
  return false;
}

}  // namespace

std::optional<VectorAxis> FindVectorAxis(Schedule& s, Block block) {
  if (!s.ok()) return std::nullopt;
  const Program& p = s.program();
  const Id node = s.node(block);
  const int64_t lanes = s.target().vector_bytes / SizeOf(p.buffers[WrittenBuffers(p, node)[0]].dtype);
  const std::vector<Id> around = LoopsAround(p, node);
  const Bindings bindings = ResolveBindings(p, node);
  const std::vector<ResultAxis> axes = ResultAxes(p, bindings);
  std::vector<VectorAxis> filled;
  for (const ResultAxis& axis : axes) {
    const std::vector<Id>& loops = axis.contiguous;
    const bool fills = loops.size() == 1 && p.loop(loops[0]).extent.Known() % lanes == 0;
    const bool last = axis.dim == axes.back().dim;
    const bool in_blocks = last && axis.dim + 1 < axes.size();
    if (last && !in_blocks && (fills || loops.empty())) {
      std::erase_if(filled, [&](const VectorAxis& other) {
        return loops.empty() || !LeavesGapsAlong(p, node, loops[0], around[other.loop]);
      });
      return filled.empty() ? std::nullopt : std::optional(filled.back());
    }
    if (!fills) continue;
    const auto at = std::find(around.begin(), around.end(), loops[0]) - around.begin();
    filled.push_back({static_cast<size_t>(at), axis.dim, in_blocks});
  }
  if (!filled.empty()) return filled.back();
  return axes.empty() ? std::nullopt : FindSteps(p, bindings, axes.back().dim, lanes);
}

void MoveInnermost(Schedule& s, Block block, VectorAxis& axis) {
  std::vector<Loop> loops = s.GetLoops(block);
  const std::vector<bool> reduces = Feeds(s.program(), s.node(block), IterKind::kReduction);
  const size_t spatial = std::find(reduces.begin(), reduces.end(), true) - reduces.begin();
  const auto begin = loops.begin() + static_cast<int64_t>(axis.loop);
  std::rotate(begin, begin + 1, loops.begin() + static_cast<int64_t>(spatial));
  s.Reorder(loops);
  axis.loop = spatial - 1;
}

void TransposeAccumulator(Schedule& s, Block block, const VectorAxis& axis) {
  if (!s.ok()) return;
  const Program& p = s.program();
  const Id consumer = Consumers(p, s.node(block))[0];
  const std::vector<std::string> names = DimNames(ResultIndices(p, s.node(block)).size());
  std::vector<std::string> axes = names;
  const auto at =
      axes.begin() + static_cast<int64_t>(names.size() - ResultIndices(p, consumer).size() + axis.dim);
  std::string name = std::move(*at);
  axes.erase(at);
  if (axis.step > 1) axes.push_back(absl::StrCat(name, "%", axis.step));
  axes.push_back(axis.step > 1 ? absl::StrCat(name, "/", axis.step) : name);
  s.TransformLayout(block, -1, LayoutMap(names, axes));
}

}  // namespace kiln
