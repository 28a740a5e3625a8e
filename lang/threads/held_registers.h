// The registers that the buffers of a kernel need.
//
//   HeldRegisters(nests, nest)     // 72: a thread holds 64 sums and 8 elements of an operand at a time
//
// `nest` is a child of the root of the program that `nests` has read. A buffer in registers, or a fragment,
// is held from its first to its last access in program order, all copies of a ring at a time. Compilers may
// need fewer registers, if parts of a buffer are dead earlier, and always need some more. Pure.
#pragma once

#include "lang/analysis/loop_nest_summary.h"

namespace kiln {

// Returns the largest number of registers of 32 bits that a thread holds at a time; 0 without such buffers.
int64_t HeldRegisters(const LoopNestSummary& nests, Id nest);

// Returns the copies of a buffer in the ring of a pipelined loop; 1 if it is in none.
int64_t CopiesOf(const LoopNestSummary& nests, Id buffer);

}  // namespace kiln
