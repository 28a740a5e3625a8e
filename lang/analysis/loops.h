// Legality of loop kinds: whether the iterations of a loop may run in parallel or become vector lanes, and whether a
// block may leave its loops. Also gives the kinds of iters that a loop feeds, and the loops below a node.
#pragma once

#include <vector>

#include "lang/analysis/bindings.h"
#include "lang/program/program.h"

namespace kiln {

// OK if the iterations of a loop may run in parallel. The loop must feed no reduction iter. No iteration may read what
// another writes. A block below that writes a buffer which is also used outside the loop must have iters that depend on
// the loop, and must not repeat what other iterations do, except a store by the buffer's only writer below the loop.
// Otherwise kFailedPrecondition with the reason. A loop with one iteration need only feed no reduction iter.
absl::Status CheckDataParallel(const Program& program, Id loop);

// OK if the iterations may become vector lanes: no loop below is parallel or vectorized, and the iterations are
// independent as for CheckDataParallel, except that the loop may feed reductions.
absl::Status CheckVectorizable(const Program& program, Id loop);

// OK if the iterations stay independent when all of them share one copy of each buffer that only this loop uses,
// instead of a private copy per iteration. A vectorized loop or a loop on a thread axis may feed reductions.
absl::Status CheckShared(const Program& program, Id loop);

// OK if `block`, which reads what `producers` write, may leave its loops and move to the node `to`. If the iterations
// of a loop that is neither serial nor unrolled may repeat a producer's reduction, each iteration has its own result,
// and `block` must stay inside that loop.
absl::Status CheckMayLeave(const Program& program, Id block, const std::vector<Id>& producers, Id to);

// True if an iteration of the loop may read elements of the buffer that only other iterations write. That is so if a
// read goes beyond what some block below the loop writes in the same iteration, along a dimension in which both indices
// have the same terms and move with the loop. It is not so if one block alone is known to write all that is read.
bool ReadsBeside(const Program& program, Id buffer, Id loop);

// True if parallel iterations of a loop may safely run the same instances of a block that writes the buffer: either the
// block is a store and the only writer of the buffer below the loop, or it is proven that no instance repeats
// (TellsApart in instances.h).
bool MayRepeat(const Program& program, Id block, Id buffer, Id loop);

// The kinds of iters of a block that a loop around it feeds. Definitions are not simplified: each loop that results
// from fusing and splitting again feeds all iters that the fused loop fed. Both are false if the loop is not around the
// block.
struct LoopUse {
  bool spatial = false, reduction = false;
};
LoopUse UseOf(const Program& program, Id block, Id loop);
// Returns the kinds of iters of the block that the loop feeds. If definitions that are not simplified (UseOf) say both
// kinds, returns those that the loop still feeds after the bindings are simplified.
LoopUse AxisUse(const Program& program, Id block, Id axis);

// Returns the loops below a node, in program order.
std::vector<Id> LoopsBelow(const Program& program, Id node);

}  // namespace kiln
