// Skip-Padding: a convolution without the zeros around its input.
//
//   P[y] = (1 <= y < 15 ? X[y - 1] : 0);  C[h] sum= P[h + i] * W[i]     ->     the same, assume-finite
//
// A place that is drawn for P inline leaves out the terms beyond the image then: of a 3x3 window on 7x7
// pixels, 18% (backends/lower/passes/plan.cc). Copied first, they are computed.
//
// Applies to: sums of products with a factor that is, or reads what is, zero beyond bounds, while nothing was
// transformed yet: with skip-zeros it is the first of a space. No choice.
#include "lang/analysis/dataflow.h"
#include "lang/patterns/padded_factor.h"
#include "modules/default_modules.h"

namespace kiln {

void SkipPadding(Schedule& s) {
  const Program& p = s.program();
  for (const Id block : Blocks(p))
    if (s.ok() && HasPaddedFactor(p, block)) s.AssumeFinite(s.GetBlock(p.Text(p.block(block).name)));
}

KILN_MODULE("skip-padding", SkipPadding);

}  // namespace kiln
