// Decides whether loops run the same instance of a block more than once. Repeating a store is harmless;
// repeating a reduction step gives a wrong result.
#pragma once

#include <vector>

#include "absl/status/status.h"
#include "lang/analysis/region.h"
#include "lang/program/program.h"

namespace kiln {

// True if proven: two different iterations of `loops` (with all other loops fixed) run different instances of
// the block.
bool DistinctInstances(const Program& program, Id block, const std::vector<Id>& loops);

// True if proven: the values of `sums` (over loops, with all other loops fixed) determine the iteration of
// `loops`.
bool Determine(const Program& program, const std::vector<IndexSum>& sums, const std::vector<Id>& loops);

// True if proven: different iterations of the loop run different instances of the block, whichever iterations
// of the loops below it they run.
bool TellsApart(const Program& program, Id block, Id loop);
// For a block before it is moved: true if proven that different iterations of loops[0] would run different instances if
// the block were computed below the last of `loops`, for these ranges of its iters. The loops after loops[0] may be in
// any iteration.
bool TellsApart(const Program& program, const std::vector<DimRange>& ranges, const std::vector<Id>& loops);

// True if proven: no two iterations of the loops around the block write the same element of the buffer. The loops
// around the node `fixed` count as being in one iteration. False for reductions and for blocks within blocks.
bool WritesElementsOnce(const Program& program, Id block, Id buffer, Id fixed);

// True if proven: the loops around the block run all of its instances. False for each of the two copies of a block that
// cutting a loop in two parts leaves.
bool RunsAllInstances(const Program& program, Id block);

// OK if it is proven that no instance of the block runs twice in `loops`, so that its reduction can be initialized on
// entry to the first of them. Otherwise kFailedPrecondition. `loops` are a loop and all loops below it down to the
// block.
absl::Status CheckReducesOnce(const Program& program, Id block, const std::vector<Id>& loops);

// Returns the position in LoopsAround(block) of the outermost loop that feeds a reduction iter; the number of those
// loops if none does.
size_t ReductionStart(const Program& program, Id block);

}  // namespace kiln
