// What must hold of a finished program, beside Verify, before code is made of it. Verify holds what is true
// between any two steps; this is not: accumulate-at makes a buffer in registers whose loops are unrolled by
// later steps.
//
//   Rules: the loops that index a buffer in registers are unrolled or vectorized (registers have no address);
//   no vectorized loop is inside of another, and no parallel loop inside of a parallel or vectorized one;
//   what belongs to a thread, warp or block is used by it alone (lang/analysis/restrictions.h).
//
// One implementation: the validator's check `registers` and lowering both ask here.
#pragma once

#include "absl/status/status.h"
#include "lang/analysis/nests.h"

namespace kiln {

// kFailedPrecondition: which block indexes which buffer by which loop, or which loops are inside of which.
absl::Status VerifyLowerable(const Nests& nests);

}  // namespace kiln
