// Features made from the decisions themselves, for comparison with the other kinds: one row for a program.
//
// Each number of each decision goes to the column that its site's name and its position in the decision are
// hashed to, as log2(1 + x). Each structural choice sets a column for the alternative that was picked to 1.
// The names decide the columns, so sketches that share sites share their columns. If two numbers fall into
// one column, they are added.
#pragma once

#include "trace/replay.h"

namespace kiln {

inline constexpr int kConfigurationDim = 256;

// Writes kConfigurationDim numbers to `row`, which must hold zeros.
void FillConfigurationRow(const Replayed& replayed, float* row);

}  // namespace kiln
