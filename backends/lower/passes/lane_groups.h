// Divides the lanes of a vectorized loop into groups of one vector register each (the last may have fewer lanes),
// unless they fit into one register or exactly fill 2, 4, 8, ... registers. LLVM would not keep 24 floats, or 14
// strided ones, in registers, but spill their sums. Lanes over which a block reduces stay together.
#pragma once

#include "backends/lower/plan/loop_plan.h"
#include "lang/program/program.h"

namespace kiln::plan {

void LaneGroups(const Program& program, Nodes& nodes, int64_t vector_bytes);

}  // namespace kiln::plan
