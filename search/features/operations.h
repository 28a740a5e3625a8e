// Counts the operations of each kind in one instance of a block.
#pragma once

#include "lang/analysis/loop_nest_summary.h"
#include "lang/patterns/intrinsic.h"
#include "search/features/columns.h"

namespace kiln {

struct Operations {
  double counts[kWithins + 1] = {};  // indexed by Column (search/features/columns.h)
  // The number of floating point and integer operations. A fused multiply-add counts as two; selects, casts and bounds
  // tests do not count.
  double arithmetic = 0;
};

// The intrinsic call around a block, if its instruction sums several products at once. The `loops` innermost loops
// around the block run inside the call. `family` is nullptr if there is no such call.
struct CallAround {
  const IntrinsicFamily* family = nullptr;
  int32_t loops = 0;
};
CallAround FindCallAround(const Program& program, Id block);

Operations CountOperations(const LoopNestSummary& nests, const NestBlock& block);

}  // namespace kiln
