// Decides whether a schedule sums in another order than its program. A declared reduction allows that (Monoid
// in lang/program/nodes.h), but the rounding changes, so records note it.
#pragma once

#include "lang/program/program.h"

namespace kiln {

// False only if each reduction whose order matters (Monoid::exact is false) adds its terms one after the
// other, in the order of its block's iters. These change the order:
//   - partial results: rfactor, and accumulate-at below a loop that continues the sum;
//   - lanes or threads that each add a part of the terms;
//   - reduction loops in another order than the iters;
//   - intrinsics that add several products at once (IntrinsicFamily::k).
// An order that the index algebra cannot decide counts as changed. Changes by lemmas do not count, because
// the trace names the lemmas.
bool Reassociates(const Program& scheduled);

}  // namespace kiln
