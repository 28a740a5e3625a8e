// Tells which loops are unrolled, which buffers LLVM can therefore keep in registers, and which loops index these
// buffers. Code for incomplete tiles may run a loop with fewer iterations instead of unrolling it with a condition for
// each iteration. But LLVM keeps a buffer in registers only if all its indices are constants, so loops that index such
// a buffer must stay unrolled.
#pragma once

#include <vector>

#include "backends/lower/plan/index_plan.h"

namespace kiln {

// True if the loop is unrolled, vectorized or of virtual threads, or has one iteration.
bool IsFullyUnrolled(const LoopNode& loop);

// Returns for each buffer whether it is on the stack and all its indices become constants: only unrolled loops index
// it, and no computed values. Loops of at most `copies` iterations count as unrolled.
std::vector<bool> KeptInRegisters(const Program& program, const IndexPlan& plan, int64_t copies = 1);

// True if a block below the loop uses the loop, or a computed index, in an index of a buffer that `registers` marks.
bool IndexesRegisters(const Program& program, const IndexPlan& plan, const std::vector<bool>& registers,
                      Id loop);

}  // namespace kiln
