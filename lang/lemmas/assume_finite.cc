// assume-finite, a lemma
//
//   P[y] = (1 <= y < 15 ? X[y - 1] : 0)
//   for h: for i: C[h] sum= P[h + i] * W[i]   ->   the same, but terms beyond the bounds may be left out
//
// The identity: 0 * w = 0 and s + 0 = s, so a term with a factor that is zero outside the bounds adds nothing to a sum.
// This is exact if the factors of all terms are finite, except for the sign of zero: a sum that starts from -0.0 and
// gets only such terms may stay -0.0. If W is infinite or NaN, the original's 0 * W is NaN, and the result may lack it
// (docs/decisions/0017).
//
// The lemma applies to every sum of products. It only adds the annotation `finite`, which lowering reads
// (backends/lower/passes/plan_indices.cc and decompose_reductions.cc).
#include "absl/strings/str_cat.h"
#include "lang/analysis/annotations.h"
#include "lang/analysis/placement.h"
#include "lang/schedule/primitive.h"

namespace kiln {
namespace {

absl::Status AssumeFinite(Call& call) {
  Program& p = call.program();
  BlockNode& block = p.block(call.node(0));
  const bool sum = block.monoid != kNone && p.monoids[block.monoid].kind == Monoid::Kind::kSum;
  if (!sum || p.exprs[p.List(block.values)[0]].op != Op::kMul) {
    return absl::FailedPreconditionError(absl::StrCat(
        Describe(p, call.node(0)), " is not a sum of products, so it has no terms to leave out"));
  }
  SetAnnotation(p, block.annotations, kAssumeFinite, 1);
  return absl::OkStatus();
}

const Primitive kAssumeFinite{
    .name = "assume-finite",
    .operands = {{"block", OperandKind::kBlock}},
    .attributes = {},
    .result = HandleKind::kBlock,
    .result_names = "",
    .lemma = true,
    .doc =
        "Declares that the factors of a sum of products are finite. Lowering may then leave out terms in "
        "which one factor is a zero beyond the bounds of what it reads (`within`). A lemma: if the other "
        "factor is infinite or NaN, the sum with the term would be NaN, and the sum without it may not "
        "be. A sum that starts from -0.0 and gets only such terms may stay -0.0.\n"
        "for h: for i: C[h] sum= within(0 <= h + i - 1 < 14, X[h + i - 1], 0) * W[i]\n->\n"
        "the same; terms with h + i - 1 beyond 0 .. 13 may be left out\n"
        "Does not apply after a step that transforms the program, or to a block that is not a sum of "
        "products.",
    .apply = AssumeFinite,
    .assumes = kFiniteFactors,
};
KILN_PRIMITIVE(kAssumeFinite);

}  // namespace
}  // namespace kiln
