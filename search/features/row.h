// Computes the features of one block: one row of the cost model's input.
#pragma once

#include "lang/analysis/loop_nest_summary.h"
#include "lang/target/target.h"
#include "search/features/footprint.h"

namespace kiln {

// Writes the features of a block, kFeatureDim numbers (search/features/columns.h), to `row`, which must hold zeros.
void FillRow(const LoopNestSummary& nests, const Footprints& footprints, const Target& target, int block,
             float* row);

}  // namespace kiln
