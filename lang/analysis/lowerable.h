// The rules that a finished program must obey before code is generated, beside those of Verify. Verify's
// rules hold between any two steps. These need not: accumulate-at makes a buffer in registers whose loops
// later steps unroll.
//
//   registers   the loops that index a buffer in registers are unrolled or vectorized, for registers have no address
//   nesting     no vectorized loop contains another, and no parallel loop is inside a parallel or vectorized one
//   owners      only a buffer's owner (a thread, warp or block) uses it (lang/analysis/restrictions.h)
//
// The validator's check `registers` and lowering both ask here.
#pragma once

#include "absl/status/status.h"
#include "lang/analysis/nests.h"

namespace kiln {

// kFailedPrecondition: which block indexes which buffer by which loop, or which loops are inside of which.
absl::Status VerifyLowerable(const Nests& nests);

}  // namespace kiln
