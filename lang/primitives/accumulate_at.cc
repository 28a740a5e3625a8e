// accumulate-at
//
//   for ko: for i:                         for ko: for i:
//     for ki: C[i] sum= f(i, ko, ki)   ->    for ki: acc[ko, i] sum= f(i, ko, ki)
//                                            C[i] sum= acc[ko, i]
//
// The partial sums that one iteration of the given loop (here i) reduces go to a private buffer, and are combined into
// the destination at the end of the iteration. If no loop at or around the given one reduces, but one below does, and
// the reduction has no initial value, the combination is a plain store. Logically, acc has an element for every partial
// sum; lowering keeps only live elements, in registers by default.
#include <algorithm>

#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "lang/analysis/bindings.h"
#include "lang/analysis/dataflow.h"
#include "lang/analysis/placement.h"
#include "lang/analysis/region.h"
#include "lang/base/defect.h"
#include "lang/program/text_names.h"
#include "lang/schedule/factor_reduction.h"
#include "lang/schedule/primitive.h"
#include "lang/schedule/rewrite.h"

namespace kiln {
namespace {

absl::Status CheckReaders(const Program& p, Id block, Id loop) {
  for (const Id reader : Consumers(p, block)) {
    if (!IsAncestor(p, ChildTowards(p, loop, block), reader) || KILN_DEFECT("accumulate-at.early-reader"))
      continue;
    return absl::FailedPreconditionError(
        absl::StrCat(Describe(p, reader), " reads the destination before the end of ", Describe(p, loop)));
  }
  return absl::OkStatus();
}

absl::Status AccumulateAt(Call& call) {
  Program& p = call.program();
  const Id block = call.node(0), loop = call.node(1);
  absl::Status status = CheckNotWithin(p, block);
  if (!status.ok()) return status;
  const std::vector<Id> loops = LoopsAround(p, block);
  const auto at = std::find(loops.begin(), loops.end(), loop);
  if (at == loops.end())
    return absl::FailedPreconditionError(
        absl::StrCat(Describe(p, loop), " is not around ", Describe(p, block)));
  const absl::StatusOr<Parts> parts =
      FactorReduction(p, block, [&](Id l) { return std::find(loops.begin(), at + 1, l) != at + 1; });
  if (!parts.ok()) return parts.status();
  status = CheckReaders(p, block, loop);
  if (status.ok()) status = CheckStartMayLeave(p, block, loop);
  if (!status.ok()) return status;
  const absl::StatusOr<Storage> storage = StorageNamed(call.Text(0));
  if (!storage.ok()) return storage.status();
  absl::StatusOr<std::vector<DimRange>> ranges = SpatialRanges(p, *parts, loop);
  if (!ranges.ok()) return ranges.status();

  const Id after = ChildTowards(p, loop, block);
  const Id combine = BuildPartial(p, block, *parts, ".acc", ScopeOf(*storage), 0);
  if (KILN_DEFECT("accumulate-at.initial-twice")) p.block(block).initial = p.block(combine).initial;
  if (KILN_DEFECT("accumulate-at.domain")) p.block(combine).domain = {};
  const bool partial_reduces = !parts->inner.empty();
  if (((parts->outer.empty() && partial_reduces) || KILN_DEFECT("accumulate-at.store")) &&
      p.block(combine).initial.count == 0)
    p.block(combine).monoid = kNone;
  // Puts loops around the combining block for its spatial iters only, over the elements that one iteration of the given
  // loop computes. Its reduction iters stay bound to the outer loops.
  const Range all = p.block(combine).iters;
  p.block(combine).iters.count = static_cast<int32_t>(ranges->size());
  const Id nest = NestOver(p, combine, *ranges, true);
  p.block(combine).iters = all;
  p.InsertAfter(after, nest);
  call.Return(combine);
  return absl::OkStatus();
}

const Primitive kAccumulateAt{
    .name = "accumulate-at",
    .operands = {{"block", OperandKind::kBlock}, {"loop", OperandKind::kLoop}},
    .attributes = {{"storage", std::string("register")}},
    .result = HandleKind::kBlock,
    .result_names = "combine",
    .doc =
        "Gives each iteration of a loop a private buffer for its partial sums. A new block combines the "
        "buffer into the destination at the end of the iteration.\n"
        "for ko: for i: for ki: C[i] sum= f(i, ko, ki)\n->\n"
        "for ko: for i:\n"
        "  for ki: acc[ko, i] sum= f(i, ko, ki)\n"
        "  C[i] sum= acc[ko, i]\n"
        "Does not apply if another block initializes the reduction, or if tiles are imperfect at more "
        "than their last level.",
    .apply = AccumulateAt,
};
KILN_PRIMITIVE(kAccumulateAt);

}  // namespace
}  // namespace kiln
