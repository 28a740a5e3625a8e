// rfactor
//
//   for i: for k0: for k1:                     for i: for k0: for k1: B.rf[k0, i] sum= f(i, k0, k1)
//     B[i] sum= f(i, k0, k1)          ->       for i: for k0: B[i] sum= B.rf[k0, i]
//
// Gives each iteration of a reduction loop (k0) a partial result; a new block combines them. In the old block, the loop
// then feeds a spatial iter, so it may be parallelized, vectorized or reordered.
#include <algorithm>

#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "lang/analysis/bindings.h"
#include "lang/analysis/dataflow.h"
#include "lang/analysis/instances.h"
#include "lang/analysis/placement.h"
#include "lang/program/text_names.h"
#include "lang/schedule/factor_reduction.h"
#include "lang/schedule/place.h"
#include "lang/schedule/primitive.h"
#include "lang/schedule/rewrite.h"

namespace kiln {
namespace {

absl::Status Rfactor(Call& call) {
  Program& p = call.program();
  const Id block = call.node(0), loop = call.node(1);
  if (const absl::Status status = CheckNotWithin(p, block); !status.ok()) return status;
  const std::vector<Id> loops = LoopsAround(p, block);
  const auto position = std::find(loops.begin(), loops.end(), loop) - loops.begin();
  if (position == static_cast<int64_t>(loops.size())) {
    return absl::FailedPreconditionError(
        absl::StrCat(Describe(p, loop), " is not around ", Describe(p, block)));
  }
  const absl::StatusOr<Parts> parts = FactorReduction(p, block, [&](Id l) { return l == loop; });
  if (!parts.ok()) return parts.status();
  if (parts->outer.empty()) {
    return absl::FailedPreconditionError(
        absl::StrCat(Describe(p, loop), " feeds no reduction of ", Describe(p, block)));
  }
  const Id scope = ScopeOfReaders(p, block);
  const size_t start = ReductionStart(p, block);
  if (IsAncestor(p, loops[start], scope)) {
    return absl::FailedPreconditionError(
        absl::StrCat("the destination is read before the end of ", Describe(p, loops[start])));
  }
  const absl::Status once =
      CheckReducesOnce(p, block, {loops.begin() + static_cast<int64_t>(start), loops.end()});
  if (!once.ok()) return once;
  const absl::Status leaves = CheckStartMayLeave(p, block, scope);
  if (!leaves.ok()) return leaves;
  absl::StatusOr<std::vector<DimRange>> ranges = SpatialRanges(p, *parts, scope);
  if (!ranges.ok()) return ranges.status();
  ranges->push_back({IndexSum::Constant(0), p.loop(loop).extent.Known()});
  const absl::StatusOr<Storage> storage = StorageNamed(call.Text(1));
  if (!storage.ok()) return storage.status();
  for (const Access& dest : p.Accesses(p.block(block).dests)) {
    const int64_t rank = dest.index.count, axis = call.Int(0);
    if (axis < -rank - 1 || axis > rank) {
      return absl::InvalidArgumentError(absl::StrCat("axis ", axis, " of a workspace for ",
                                                     p.Text(p.buffers[dest.buffer].name), ": wanted ",
                                                     -rank - 1, " .. ", rank));
    }
  }

  const int rank = p.Accesses(p.block(block).dests)[0].index.count;
  const int64_t axis = call.Int(0) < 0 ? call.Int(0) + rank + 1 : call.Int(0);
  const bool tainted = AnyTainted(p, block);
  const Id after = ChildTowards(p, scope, block);
  const Id combine = BuildPartial(p, block, *parts, ".rf", ScopeOf(*storage), static_cast<int>(axis));
  p.InsertAfter(after, NestOver(p, combine, *ranges, tainted));
  call.Return(combine);
  return absl::OkStatus();
}

const Primitive kRfactor{
    .name = "rfactor",
    .operands = {{"block", OperandKind::kBlock}, {"loop", OperandKind::kLoop}},
    .attributes = {{"axis", int64_t{0}}, {"storage", std::string("global")}},
    .result = HandleKind::kBlock,
    .result_names = "combine",
    .doc =
        "Makes a partial result for each iteration of a loop that feeds a reduction. A workspace holds "
        "the partial results, and a new block combines them. `axis` is the position of the loop among "
        "the dimensions of the workspace: 0 is the first, -1 the last.\n"
        "for i: for k0: for k1: B[i] sum= f(i, k0, k1)\n->\n"
        "for i: for k0: for k1: B.rf[k0, i] sum= f(i, k0, k1)\n"
        "for i: for k0: B[i] sum= B.rf[k0, i]\n"
        "Does not apply if the loop does not feed a reduction, if another block initializes the "
        "reduction, if its result is read before the reduction ends, or if tiles are imperfect at more "
        "than their last level.",
    .apply = Rfactor,
};
KILN_PRIMITIVE(kRfactor);

}  // namespace
}  // namespace kiln
