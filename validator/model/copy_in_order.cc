#include "validator/model/copy_in_order.h"

#include <algorithm>
#include <utility>
#include <vector>

namespace kiln {
namespace {

// Where an index lies in a row-major buffer, as a constant and a step for each iter. False if an index divides.
bool StepsOf(const Program& p, Id buffer, Range index, int64_t* first, std::vector<int64_t>* steps) {
  int64_t stride = 1;
  for (int d = index.count; d-- > 0; stride *= p.Dims(p.buffers[buffer].shape)[d].UpperBound()) {
    const IndexSum sum = p.SumOf(p.List(index)[d]);
    *first += sum.offset * stride;
    for (const IndexSplit& split : sum.splits) {
      if (split.lower != 1 || split.extent != 0) return false;
      (*steps)[split.source.id] += split.scale * stride;
    }
  }
  return true;
}

}  // namespace

int64_t SizeInBytes(const Program& model, Id buffer) {
  int64_t bytes = SizeOf(model.buffers[buffer].dtype);
  for (const Extent& extent : model.Dims(model.buffers[buffer].shape)) bytes *= extent.UpperBound();
  return bytes;
}

bool IsCopyInOrder(const Program& p, const ModelView& view) {
  const BlockNode& b = p.block(view.copy);
  if (b.monoid != kNone || b.domain.count != 0 || b.dests.count != 1 || b.values.count != 1) return false;
  const Expr& value = p.exprs[p.List(b.values)[0]];
  const Access& dest = p.Accesses(b.dests)[0];
  if (value.op != Op::kLoad || value.AsLoad().buffer != (view.slice ? view.whole : view.part) ||
      dest.buffer != (view.slice ? view.part : view.whole))
    return false;
  const Range loaded = value.AsLoad().index;
  const auto iters = p.Iters(b.iters);
  int64_t from = 0, to = 0;
  std::vector<int64_t> steps_from(iters.size()), steps_to(iters.size());
  if (!StepsOf(p, view.part, view.slice ? dest.index : loaded, &from, &steps_from) ||
      !StepsOf(p, view.whole, view.slice ? loaded : dest.index, &to, &steps_to) || steps_from != steps_to ||
      from != 0 || to * SizeOf(p.buffers[view.part].dtype) != view.offset)
    return false;
  std::vector<std::pair<int64_t, int64_t>> digits;  // (step, extent), from the fastest
  for (size_t i = 0; i < iters.size(); ++i) {
    if (iters[i].extent.UpperBound() != 1) digits.push_back({steps_from[i], iters[i].extent.UpperBound()});
  }
  std::sort(digits.begin(), digits.end());
  int64_t elements = 1;
  for (const auto& [step, extent] : digits) {
    if (step != elements) return false;
    elements *= extent;
  }
  return elements * SizeOf(p.buffers[view.part].dtype) == SizeInBytes(p, view.part);
}

}  // namespace kiln
