// Drop-Padded-Terms: lets a convolution drop the terms that read the zero padding around its input.
//
//   P[y] = (1 <= y < 15 ? X[y - 1] : 0);  C[h] sum= P[h + i] * W[i]     ->     the same, assume-finite
//
// The module only adds the lemma assume-finite. If P is later inlined into the reduction, lowering leaves out the terms
// beyond the image: 18% of a 3x3 window on 7x7 pixels (backends/lower/passes/plan_indices.cc). If P is stored first,
// all terms are computed.
//
// Applies to: sums of products, under Policy::kDropPaddedTerms, with a factor that is zero beyond bounds, directly or
// through copies. After a step that transforms the program it declines, so it comes first in a space, beside
// skip-zeros. Structure: none.
#include "lang/analysis/annotations.h"
#include "lang/analysis/dataflow.h"
#include "lang/patterns/padded_factor.h"
#include "modules/default_modules.h"
#include "modules/unscheduled.h"

namespace kiln {

void DropPaddedTerms(Schedule& s) {
  if (!s.target().policies.Has(Policy::kDropPaddedTerms)) return;
  const Program& p = s.program();
  for (const Id block : Blocks(p)) {
    if (!s.ok() || !HasPaddedFactor(p, block)) continue;
    if (AnnotationOf(p, p.block(block).annotations, kAssumeFinite) != 0) continue;
    const std::string name(p.Text(p.block(block).name));
    Schedule::Section by_block(s, name);
    if (!s.Skip(CheckUntransformed(s))) s.AssumeFinite(s.GetBlock(name));
  }
}

KILN_MODULE("drop-padded-terms", DropPaddedTerms);

}  // namespace kiln
