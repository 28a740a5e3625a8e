// Legality of loop kinds: whether the iterations of a loop may run in parallel or become vector lanes. Also
// gives the kinds of iters that a loop feeds, and the loops below a node.
#pragma once

#include <vector>

#include "lang/analysis/bindings.h"
#include "lang/program/program.h"

namespace kiln {

// OK if the iterations of a loop may run in parallel. The loop must feed no reduction iter. No iteration may read what another
// writes. A block below that writes a buffer which is also used outside the loop must have iters that depend on the loop, and
// must not repeat what other iterations do. Otherwise kFailedPrecondition with the reason.
absl::Status CheckDataParallel(const Program& program, Id loop);

// OK if the iterations may become vector lanes. Like CheckDataParallel, but the loop may feed reductions, and no loop below may
// be parallel or vectorized.
absl::Status CheckVectorizable(const Program& program, Id loop);

// OK if the iterations stay independent when all of them share one copy of each buffer that only this loop uses, instead of a
// private copy per iteration. A vectorized loop or a loop on a thread axis may feed reductions.
absl::Status CheckShared(const Program& program, Id loop);

// OK if `block`, which reads what `producers` write, may move to the node `to`. Iterations of a parallel loop that repeat a
// reduction have private results. So the readers of these must stay inside the loop.
absl::Status CheckMayLeave(const Program& program, Id block, const std::vector<Id>& producers, Id to);

// True for a buffer that is written below the loop if an iteration reads elements that it does not write itself, and
// so elements that other iterations write: along a dimension whose index depends on the loop, a read goes beyond what
// a block writes, and no other block is known to write all that is read.
bool ReadsBeside(const Program& program, Id buffer, Id loop);

// True if parallel iterations of a loop may safely run the same instances of a block that writes the buffer:
// either the block is a store and the only writer of the buffer below the loop, or no instance repeats
// (instances.h).
bool MayRepeat(const Program& program, Id block, Id buffer, Id loop);

// The kinds of iters of a block that a loop around it feeds. A loop that was fused and split again feeds all iters that the
// fused loop fed, so that a reduction starts there. Both are false if the loop is not around the block.
struct LoopUse {
  bool spatial = false, reduction = false;
};
LoopUse UseOf(const Program& program, Id block, Id loop);
// Returns the kinds of iters that a loop still feeds after simplifying. Threads of an axis that feeds a reduction combine
// terms.
LoopUse AxisUse(const Program& program, Id block, Id axis);

// Returns the loops below a node, in program order.
std::vector<Id> LoopsBelow(const Program& program, Id node);

}  // namespace kiln
