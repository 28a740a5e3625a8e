// The decisions themselves as features, for comparison: one row for a program.
//
// Each number of each decision has the column that its site's name and its place in the decision are hashed
// to, as log2(1 + x); each structural choice has a column for what was picked, which is 1. Names decide
// columns, so that sketches which share sites share their columns; some columns may stand for two numbers,
// which are then added.
#pragma once

#include "trace/replay.h"

namespace kiln {

inline constexpr int kConfigurationDim = 256;

// Writes kConfigurationDim numbers to `row`, which holds zeros.
void FillConfigurationRow(const Replayed& replayed, float* row);

}  // namespace kiln
