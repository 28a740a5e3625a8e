#include "lang/analysis/axes.h"

#include <algorithm>
#include <iterator>

#include "lang/analysis/access.h"
#include "lang/analysis/region.h"

namespace kiln {

std::vector<size_t> DimsInMemory(const Program& p, Id buffer) {
  const size_t dims = p.buffers[buffer].shape.count;
  std::vector<size_t> order;  // the dimensions, sorted by the position of their last axis in the layout
  const auto move_last = [&](size_t d) {
    std::erase(order, d);
    order.push_back(d);
  };
  for (size_t d = 0; d < dims; ++d) move_last(d);
  for (const Id axis : p.List(p.buffers[buffer].layout.axes))
    for (const IndexSplit& split : p.SumOf(axis).splits) move_last(split.source.id);
  return order;
}

std::vector<ResultAxis> ResultAxes(const Program& p, const Bindings& bindings) {
  const Indices indices = ResultIndices(p, bindings.block);
  std::vector<ResultAxis> axes;
  for (const size_t d : DimsInMemory(p, p.Accesses(p.block(bindings.block).dests)[0].buffer)) {
    IndexSum by_one;
    std::copy_if(indices[d].splits.begin(), indices[d].splits.end(), std::back_inserter(by_one.splits),
                 [](const IndexSplit& split) { return split.scale == 1; });
    axes.push_back({d, LoopsAlong(bindings, indices[d]), LoopsAlong(bindings, by_one)});
  }
  return axes;
}

std::optional<int> LastDimIter(const Program& p, Id block) {
  const auto index = p.List(p.Accesses(p.block(block).dests)[0].index);
  const auto simple = index.empty() ? std::nullopt : AsSimpleIndex(p, index.back());
  return simple.has_value() ? std::optional(simple->iter) : std::nullopt;
}

}  // namespace kiln
