// Legality of loop kinds: whether the iterations of a loop may run at once or become lanes. Also: which kinds
// of iter a loop feeds, and the loops below a node.
#pragma once

#include <vector>

#include "lang/analysis/bindings.h"
#include "lang/program/program.h"

namespace kiln {

// OK if the iterations of a loop may run at once: it feeds no reduction iter, and every block below that
// writes a buffer which is also used outside of the loop has spatial iters that depend on it.
// kFailedPrecondition with the reason otherwise.
absl::Status CheckDataParallel(const Program& program, Id loop);

// OK if the iterations may become lanes: like CheckDataParallel, but reductions may be fed (their monoid
// allows lanes), and nothing below is parallel or vectorized.
absl::Status CheckVectorizable(const Program& program, Id loop);

// OK if the iterations of a loop that run at once would stay independent where what each has for itself (what
// only the loop uses) were one buffer of all.
absl::Status CheckShared(const Program& program, Id loop);

// Of a buffer that is written below the loop: proven that in a dimension that moves with the loop, an
// iteration reads beside what every block there writes for it, and so what other iterations write.
bool ReadsBeside(const Program& program, Id buffer, Id loop);

// Whether iterations of a loop that run at once may run the same instances of a block, which writes the
// buffer: it stores, and nothing else below the loop writes there, or they do not (instances.h).
bool MayRepeat(const Program& program, Id block, Id buffer, Id loop);

// Kinds of iter that a loop feeds in a block below it.
struct LoopUse {
  bool spatial = false, reduction = false;
};
LoopUse UseOf(const Program& program, Id block, Id loop);

// Loops below a node, in program order.
std::vector<Id> LoopsBelow(const Program& program, Id node);

}  // namespace kiln
