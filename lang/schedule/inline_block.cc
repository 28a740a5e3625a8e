#include "lang/schedule/inline_block.h"

#include <algorithm>
#include <optional>
#include <vector>

#include "lang/analysis/dataflow.h"
#include "lang/analysis/placement.h"
#include "lang/analysis/region.h"
#include "lang/base/defect.h"
#include "lang/schedule/rewrite.h"

namespace kiln {
namespace {

// Returns, for each iter of the block, the dimension of `index` that the iter indexes. Returns -1 for an iter that
// indexes no dimension; it must have the single value 0.
std::vector<int> DimensionOfIter(const Program& p, Id block, Range index) {
  std::vector<int> dims(p.block(block).iters.count, -1);
  const auto marks = p.List(index);
  for (size_t d = 0; d < marks.size(); ++d) {
    const std::optional<SimpleIndex> simple = AsSimpleIndex(p, marks[d]);
    if (simple.has_value()) dims[simple->iter] = static_cast<int>(d);
  }
  return dims;
}

BodyRewriter::IterRule AtLoad(const Program& p, const std::vector<int>& dims, Range index) {
  return [&p, dims, index](int iter) {
    const int dim = KILN_DEFECT("compute-inline.swapped") ? std::min(iter, index.count - 1) : dims[iter];
    return dim < 0 ? IndexSum::Constant(0) : p.SumOf(p.lists[index.begin + dim]);
  };
}

}  // namespace

absl::Status CheckInlineBlock(const Program& p, Id block) {
  const absl::Status status = CheckComputeInline(p, block);
  if (!status.ok()) return status;
  const Access dest = p.Accesses(p.block(block).dests)[0];
  const Id value = p.List(p.block(block).values)[0];
  const std::vector<int> dims = DimensionOfIter(p, block, dest.index);
  for (const Id consumer : Consumers(p, block)) {
    for (const Id load : LoadsOf(p, consumer, dest.buffer)) {
      const Expr& e = p.exprs[load];
      if (!CanSubstitute(p, value, AtLoad(p, dims, e.AsLoad().index), IterExtents(p, consumer)))
        return absl::FailedPreconditionError("an index of " + Describe(p, block) +
                                             " cannot be expressed in the reader's iters");
    }
  }
  return absl::OkStatus();
}

absl::Status InlineBlock(Program& p, Id block) {
  const absl::Status status = CheckInlineBlock(p, block);
  if (!status.ok()) return status;
  const Access dest = p.Accesses(p.block(block).dests)[0];
  const Id value = p.List(p.block(block).values)[0];
  const std::vector<int> dims = DimensionOfIter(p, block, dest.index);
  const std::vector<Id> consumers = Consumers(p, block);
  for (const Id consumer : consumers) {
    const std::vector<int64_t> extents = IterExtents(p, consumer);
    std::vector<std::pair<std::vector<IndexSum>, Id>> known;  // loads of one element share one value
    const auto load_rule = [&](const Expr& e) -> Id {
      if (e.AsLoad().buffer != dest.buffer) return kNone;
      std::vector<IndexSum> index;
      for (const Id mark : p.List(e.AsLoad().index)) index.push_back(p.SumOf(mark));
      for (const auto& [other, inlined] : known)
        if (other == index) return inlined;
      known.emplace_back(
          index, BodyRewriter(p, nullptr, AtLoad(p, dims, e.AsLoad().index), extents).Expression(value));
      return known.back().second;
    };
    BodyRewriter rewriter(p, load_rule, [](int i) { return IndexSum::Of(Source::Iter(i)); }, extents);
    const Range values = rewriter.Expressions(p.block(consumer).values);
    p.block(consumer).values = values;
    if (KILN_DEFECT("compute-inline.initial")) continue;
    const Range initial = rewriter.Expressions(p.block(consumer).initial);
    p.block(consumer).initial = initial;
  }
  RemoveWithEmptyLoops(p, block);
  p.Kill(block);
  return absl::OkStatus();
}

}  // namespace kiln
