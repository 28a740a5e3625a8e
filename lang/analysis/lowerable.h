// Rules that a finished program must obey before code is generated, in addition to those of Verify. Verify's
// rules hold between any two steps. These rules hold at the end only: accumulate-at, for example, makes a
// buffer in registers, and later steps unroll the loops that index it.
//
//   registers   each loop that indexes registers is unrolled or vectorized, or iterates over virtual threads,
//               since no register has an address; a loop on an axis may index them too if each of its
//               iterations has its own registers
//   nesting     no vectorized loop is in a vectorized one, no parallel loop in a parallel or vectorized one
//   owners      only a buffer's owner (a thread, warp or block) uses it (lang/analysis/legality.h)
//
// Loops with one iteration are exempt. The validator's check `registers` and lowering both call VerifyLowerable.
#pragma once

#include "absl/status/status.h"
#include "lang/analysis/loop_nest_summary.h"

namespace kiln {

// OK if the program obeys the rules for registers, nesting and owners that hold before code is generated. Otherwise
// kFailedPrecondition, which names the block, buffer and loop of a register access, the loops that are nested wrongly,
// or the buffer or block that CheckOwners refuses.
absl::Status VerifyLowerable(const LoopNestSummary& nests);

}  // namespace kiln
