// Emits the lanes of a loop by the vector, where they fill no power of two of vectors: LLVM keeps neither 24 floats
// nor 14 strided ones in registers, but spills their sums. Lanes that reduce into one element stay together.
#pragma once

#include "backends/lower/plan/loop_plan.h"
#include "lang/program/program.h"

namespace kiln::plan {

void LaneGroups(const Program& program, Nodes& nodes, int64_t vector_bytes);

}  // namespace kiln::plan
