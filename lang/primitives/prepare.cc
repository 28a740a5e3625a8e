// prepare
//
//   for i: Y[i] = X[i]                              prepare for j: P[j] = W[j]     once per constants
//   for j: P[j] = W[j]    (W a constant)     ->     for i: Y[i] = X[i]
//   for i: Z[i] = Y[i]*P[i]                         for i: Z[i] = Y[i]*P[i]
//
// Moves the nest of a block to the prepare phase, which runs once per set of constants, before all other nests. The
// nest comes after those that are prepared already.
#include "absl/strings/str_cat.h"
#include "lang/analysis/legality.h"
#include "lang/analysis/placement.h"
#include "lang/schedule/primitive.h"

namespace kiln {
namespace {

absl::Status Prepare(Call& call) {
  Program& p = call.program();
  const Id nest = NestOf(p, call.node(0));
  if (p.nodes[nest].prepare)
    return absl::FailedPreconditionError(absl::StrCat(Describe(p, call.node(0)), " is prepared already"));
  Id after = kNone;  // the last prepared child
  for (Id child = p.nodes[kRoot].first; child != kNone && p.nodes[child].prepare; child = p.nodes[child].next)
    after = child;
  if (after != kNone) {
    p.Detach(nest);
    p.InsertAfter(after, nest);
  } else if (p.nodes[kRoot].first != nest) {
    p.Detach(nest);
    p.InsertBefore(p.nodes[kRoot].first, nest);
  }
  p.nodes[nest].prepare = true;
  return absl::OkStatus();
}

const Primitive kPrepare{
    .name = "prepare",
    .operands = {{"block", OperandKind::kBlock}},
    .attributes = {},
    .result = HandleKind::kBlock,
    .result_names = "",
    .restricts = true,
    .doc =
        "Puts the whole nest of a block in the prepare phase. The phase runs before all other nests, "
        "once per set of constants, and is exported as a separate function NAME_prepare.\n"
        "for i: Y[i] = X[i]\n"
        "for j: P[j] = W[j]    (W a constant)\n->\n"
        "prepare for j: P[j] = W[j]\n"
        "for i: Y[i] = X[i]\n"
        "Does not apply if a block of the nest reads a buffer that is neither constant nor prepared, "
        "writes a result, writes a buffer that blocks outside the phase write too, or passes data to "
        "others outside global memory.",
    .apply = Prepare,
};
KILN_PRIMITIVE(kPrepare);

}  // namespace
}  // namespace kiln
