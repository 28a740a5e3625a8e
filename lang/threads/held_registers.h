// Computes how many registers a thread needs for the buffers of a kernel that are in registers.
//
//   HeldRegisters(nests, nest)     // 72: a thread holds 64 sums and 8 elements of an operand at a time
//
// `nest` is a child of the root of the program that the summary `nests` was made from. A buffer in registers, or a
// fragment, counts from its first to its last access in program order, with all copies of its ring. Compilers may need
// fewer registers for these buffers, as parts may be dead earlier, and need more for other values. Pure.
#pragma once

#include "lang/analysis/loop_nest_summary.h"

namespace kiln {

// Returns the largest number of 32-bit registers that one thread holds at the same time for buffers in registers.
// Returns 0 if the kernel has no such buffers.
int64_t HeldRegisters(const LoopNestSummary& nests, Id nest);

// Returns how many copies of the buffer the ring of a pipelined loop holds. Returns 1 for a buffer that is in no ring.
int64_t CopiesOf(const LoopNestSummary& nests, Id buffer);

}  // namespace kiln
