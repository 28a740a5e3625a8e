// Tells whether loops run the instances of a block more than once. That is harmless for a store, and wrong
// within a reduction.
#pragma once

#include <vector>

#include "absl/status/status.h"
#include "lang/analysis/region.h"
#include "lang/program/program.h"

namespace kiln {

// True if proven:
// two different iterations of `loops` (all others standing still) are different instances of the block.
bool DistinctInstances(const Program& program, Id block, const std::vector<Id>& loops);

// True if proven:
// the values of `sums` (over loops, all others standing still) tell the iterations of `loops`.
bool Determine(const Program& program, const std::vector<Sum>& sums, const std::vector<Id>& loops);

// True if proven: different iterations of the loop run different instances of the block, whatever the loops
// below it do.
bool TellsApart(const Program& program, Id block, Id loop);
// The same for the first of `loops` of a block that is to run,
// below the last of them, for these ranges of its iters.
bool TellsApart(const Program& program, const std::vector<DimRange>& ranges, const std::vector<Id>& loops);

// OK if the reduction can be initialized where the first of `loops` is entered, these being the loops from
// there down to the block.
absl::Status CheckReducesOnce(const Program& program, Id block, const std::vector<Id>& loops);

// Position among `loops` (LoopsAround the block) of the outermost that feeds a reduction iter; their number
// if none does.
size_t ReductionStart(const Program& program, Id block);

}  // namespace kiln
