// Skip-Zeros: drops the terms of a transposed convolution that multiply the zeros inserted into its input.
//
//   C[h] sum= Z[h + i] * W[i]      ->      C[2*h + h.r] sum= Z[2*h + 2*i + 2*h.r] * W[2*i + h.r]
//
// Applies to: sums of products with a factor in which, along one dimension, at most one of each `step` elements is
// nonzero (lang/patterns/zero_terms.h), under Policy::kSkipZeros. After a step that transforms the program it declines,
// so it comes first in a space. Structure: none.
#include "lang/analysis/dataflow.h"
#include "lang/patterns/zero_terms.h"
#include "modules/module.h"
#include "modules/unscheduled.h"

namespace kiln {

void SkipZeros(Schedule& s) {
  if (!s.target().policies.Has(Policy::kSkipZeros)) return;
  for (const Id block : Blocks(s.program())) {
    if (!s.ok() || !FindZeroTerms(s.program(), block).ok()) continue;
    const std::string name(s.program().Text(s.program().block(block).name));
    Schedule::Section by_block(s, name);
    if (!s.Skip(CheckUntransformed(s))) s.SkipZeros(s.GetBlock(name));
  }
}

KILN_MODULE("skip-zeros", SkipZeros);

}  // namespace kiln
