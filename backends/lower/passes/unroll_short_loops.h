// Unrolls short serial loops where that removes instructions, even if the schedule does not ask for it:
//
//   tiles of padded data       only the first and the last tile can cross a bound; the others need no test
//   a few terms of a sum       the loop's own instructions cost as much as the terms
//   small buffers              LLVM keeps a buffer of a few vectors in registers if all indices are constants
//
//   for i in 0..7: for lanes j: T[i*16 + j] = within(i*16 + j - 1 < 110, A[i*16 + j - 1])
//   ->
//   for i in 0..7 unrolled: ..
//
// Tests of padding are not counted, because unrolling decides most of them.
#pragma once

#include "backends/lower/plan/index_plan.h"
#include "lang/target/cost_table.h"

namespace kiln {

void UnrollShortLoops(Program& program, const IndexPlan& plan, int64_t vector_bytes, const CostTable& costs);

}  // namespace kiln
