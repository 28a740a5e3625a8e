// Which loops have to be written out. An incomplete tile takes the long way: the loops of its complete form
// may run there, with fewer iterations, instead of being copied iteration by iteration behind conditions.
// What LLVM keeps in registers has no address, though, and has to be indexed by constants everywhere.
// Short loops that tile what is padded are written out whatever the program says: only the first and the last
// tile can be cut, and the others ask nothing.
#pragma once

#include <vector>

#include "backends/plan.h"

namespace kiln {

// Unrolled, vectorized, or of one iteration.
bool IsWrittenOut(const LoopNode& loop);

// for i in 0..7: for lanes j: T[i*16 + j] = within(i*16 + j - 1 < 110, A[i*16 + j - 1])
// ->
// for i in 0..7 unrolled: ..         where at most sixteen instructions result, tests not counted
void WriteOutPadding(Program& program, const Plan& plan, int64_t vector_bytes);

// By buffer: on the stack, and indexed by unrolled and vectorized loops alone.
std::vector<bool> KeptInRegisters(const Program& program, const Plan& plan);

// Whether a block below the loop indexes one of these buffers by it.
bool IndexesRegisters(const Program& program, const Plan& plan, const std::vector<bool>& registers, Id loop);

}  // namespace kiln
