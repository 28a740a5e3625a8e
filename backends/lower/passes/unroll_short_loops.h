// Short serial loops that are written out whatever the program says, where that takes instructions away:
//
//   tiles of what is padded   only the first and the last one can be cut, and the others ask nothing
//   a few terms of a sum      the loop is as long as they are
//   what indexes a buffer     of a few vectors: LLVM keeps it in registers where constants alone index it
//
//   for i in 0..7: for lanes j: T[i*16 + j] = within(i*16 + j - 1 < 110, A[i*16 + j - 1])
//   ->
//   for i in 0..7 unrolled: ..
//
// Tests of padding are not counted: most are decided.
#pragma once

#include "backends/lower/passes/plan.h"

namespace kiln {

void UnrollShortLoops(Program& program, const Plan& plan, int64_t vector_bytes);

}  // namespace kiln
