#include "validator/model/copy_in_order.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "absl/types/span.h"

namespace kiln {
namespace {

// Where an index lies in a row-major buffer: a constant, plus what each iter adds, by its value.
struct Positions {
  int64_t first = 0;
  std::vector<std::vector<int64_t>> added;

  Positions(const Program& p, Id buffer, Range index, absl::Span<const Iter> iters) {
    for (const Iter& iter : iters) added.emplace_back(iter.extent.UpperBound());
    int64_t stride = 1;
    for (int d = index.count; d-- > 0; stride *= p.Dims(p.buffers[buffer].shape)[d].UpperBound()) {
      const IndexSum sum = p.SumOf(p.List(index)[d]);
      first += sum.offset * stride;
      for (const IndexSplit& split : sum.splits) {
        std::vector<int64_t>& by_value = added[split.source.id];
        for (size_t value = 0; value < by_value.size(); ++value) {
          const int64_t quotient = static_cast<int64_t>(value) / split.lower;
          by_value[value] += (split.extent == 0 ? quotient : quotient % split.extent) * split.scale * stride;
        }
      }
    }
  }
};

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
  const Positions from(p, view.part, view.slice ? dest.index : loaded, p.Iters(b.iters)),
      to(p, view.whole, view.slice ? loaded : dest.index, p.Iters(b.iters));
  if (from.added != to.added || from.first != 0 ||
      to.first * SizeOf(p.buffers[view.part].dtype) != view.offset)
    return false;
  std::vector<std::pair<int64_t, int64_t>> digits;  // (step, extent), from the fastest
  for (const std::vector<int64_t>& by_value : from.added) {
    const auto extent = static_cast<int64_t>(by_value.size());
    if (extent == 1) continue;
    for (int64_t value = 0; value < extent; ++value) {
      if (by_value[value] != value * by_value[1]) return false;
    }
    digits.push_back({by_value[1], extent});
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
