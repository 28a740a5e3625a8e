// Whether a schedule sums in another order than its program is written in. A declared reduction allows that
// (Monoid in lang/program/nodes.h): what changes are roundings, and records say so.
#pragma once

#include "lang/program/program.h"

namespace kiln {

// True unless each reduction for which order matters (Monoid::exact) meets its terms one after the other, in
// the order of its block's iters. Another order is that of
//   - parts that are combined: rfactor, and accumulate-at below a loop that goes on with the sum;
//   - lanes and threads of which each has some of the terms;
//   - loops of the reduction that stand in another order than their steps;
//   - calls of instructions that add several products at once (IntrinsicFamily::k).
// Where the algebra of index maps cannot tell the order it counts as another one. What a lemma changes is not
// asked for: the trace names it.
bool Reassociates(const Program& scheduled);

}  // namespace kiln
