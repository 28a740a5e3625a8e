#include "lang/analysis/reshape.h"

#include "lang/analysis/dataflow.h"

namespace kiln {

std::optional<std::vector<IndexSum>> ItersByElement(const Program& program, Id block, Id buffer) {
  IndexMap map;
  for (const Iter& iter : program.Iters(program.block(block).iters))
    map.domain.push_back(iter.extent.Known());
  const auto shape = program.Dims(program.buffers[buffer].shape);
  bool first = true;
  for (const Id load : LoadsOf(program, block, buffer)) {
    const Expr& e = program.exprs[load];
    std::vector<IndexSum> index;
    for (const Id mark : program.List(e.AsLoad().index))
      index.push_back(Simplify(program.SumOf(mark), map.extents()));
    if (!first && index != map.results) return std::nullopt;
    map.results = index;
    first = false;
  }
  for (size_t d = 0; d < map.results.size(); ++d) {
    const Interval bounds = Bounds(map.results[d], map.extents());
    if (bounds.min != 0 || bounds.max != shape[d].Known() - 1) return std::nullopt;
  }
  const std::optional<IndexMap> inverse = Inverse(map);
  if (!inverse.has_value()) return std::nullopt;
  return inverse->results;
}

}  // namespace kiln
