// Features made from the decisions themselves, for comparison with the other kinds: one row for a program.
//
// Each number x of each decision goes to the column that the name of its sampling site and its position in the decision
// are hashed to, as log2(1 + |x|). Each structural choice sets a column for the alternative that was picked to 1. The
// names decide the columns, so sketches that share sampling sites share their columns. If two numbers fall into one
// column, they are added.
#pragma once

#include "trace/replay.h"

namespace kiln {

inline constexpr int kConfigurationDim = 256;

// Writes the features of a replayed program's decisions and choices, kConfigurationDim numbers, to `row`, which must
// hold zeros.
void FillConfigurationRow(const Replayed& replayed, float* row);

}  // namespace kiln
