// Skip-Zeros: a transposed convolution without the zeros that it spreads its input with.
//
//   C[h] sum= Z[h + i] * W[i]      ->      C[2*h + h.r] sum= Z[2*h + 2*i + 2*h.r] * W[2*i + h.r]
//
// Applies to: sums of products with a factor that is zero but for one element of several in a row
// (lang/patterns/zero_terms.h), while nothing was transformed yet: it is the first of a space. No choice.
#include "lang/analysis/dataflow.h"
#include "lang/patterns/zero_terms.h"
#include "modules/module.h"

namespace kiln {

void SkipZeros(Schedule& s) {
  for (const Id block : Blocks(s.program())) {
    if (s.ok() && FindZeroTerms(s.program(), block).ok())
      s.SkipZeros(s.GetBlock(s.program().Text(s.program().block(block).name)));
  }
}

KILN_MODULE("skip-zeros", SkipZeros);

}  // namespace kiln
