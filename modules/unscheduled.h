// Checks that modules make before they schedule a block. Each check returns OK, or kFailedPrecondition with
// the block or loop and what it lacks. A module passes the status to Schedule::Skip.
#pragma once

#include "absl/status/status.h"
#include "lang/schedule/schedule.h"

namespace kiln {

// OK if no step has transformed the program yet, so that a lemma may still be applied. Steps that sample or only read,
// and lemmas, do not count. The reason tells users to write the module further to the left in the space string.
absl::Status CheckUntransformed(const Schedule& s);

// OK if no module has scheduled the block yet: its loops are serial and contain no other block, no loop of several
// iterations repeats the same instances, and no extent depends on a sampled value.
absl::Status CheckUnscheduled(const Program& program, Id block);

// OK if the block is a reduction with one result in which some read does not depend on some spatial iter with several
// values, so that tiles reuse what they load (HasReuse).
absl::Status CheckReuses(const Program& program, Id block);

// OK if the block is an unscheduled reduction that initializes its own result, as rfactor requires.
absl::Status CheckReduces(const Program& program, Id block);

// OK if the block is an unscheduled contraction of two reads at distinct iters, as pad-einsum requires.
absl::Status CheckReadsAtIters(const Program& program, Id block);

// True if the block reduces along its innermost loop and reuses nothing, so that no tiling vectorizes it. False for
// blocks that read buffers outside of global memory, as those that combine accumulators do.
bool IsContiguousReduction(const Program& program, Id block);

}  // namespace kiln
