// Computes one row: the features of one block.
#pragma once

#include "lang/analysis/loop_nest_summary.h"
#include "lang/target/target.h"
#include "search/features/footprint.h"

namespace kiln {

// Writes kFeatureDim numbers (search/features/columns.h) to `row`, which must hold zeros.
void FillRow(const LoopNestSummary& nests, const Footprints& footprints, const Target& target, int block,
             float* row);

}  // namespace kiln
