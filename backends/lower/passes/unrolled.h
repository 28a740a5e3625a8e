// Decides which loops must be unrolled. Code for incomplete tiles may run a loop with fewer iterations
// instead of unrolling it with a condition for each iteration. LLVM keeps a buffer in registers only if all
// its indices are constants, though, so loops that index such a buffer must be unrolled everywhere.
#pragma once

#include <vector>

#include "backends/lower/plan/index_plan.h"

namespace kiln {

// True if the loop is unrolled, vectorized or of virtual threads, or has one iteration.
bool IsFullyUnrolled(const LoopNode& loop);

// Returns for each buffer whether it is on the stack and only unrolled loops index it. Loops of at most `copies`
// iterations count as unrolled.
std::vector<bool> KeptInRegisters(const Program& program, const IndexPlan& plan, int64_t copies = 1);

// True if a block below the loop uses the loop, or a computed index, in an index of one of these buffers.
bool IndexesRegisters(const Program& program, const IndexPlan& plan, const std::vector<bool>& registers,
                      Id loop);

}  // namespace kiln
