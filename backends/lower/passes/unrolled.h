// Which loops have to be written out. An incomplete tile takes the long way: the loops of its complete form
// may run there, with fewer iterations, instead of being copied iteration by iteration behind conditions.
// What LLVM keeps in registers has no address, though, and has to be indexed by constants everywhere.
#pragma once

#include <vector>

#include "backends/lower/passes/plan.h"

namespace kiln {

// Unrolled, vectorized, or of one iteration.
bool IsWrittenOut(const LoopNode& loop);

// By buffer: on the stack, and indexed by loops that are written out alone, or would be if those of at most
// so many iterations were.
std::vector<bool> KeptInRegisters(const Program& program, const Plan& plan, int64_t copies = 1);

// Whether a block below the loop indexes one of these buffers by it.
bool IndexesRegisters(const Program& program, const Plan& plan, const std::vector<bool>& registers, Id loop);

}  // namespace kiln
