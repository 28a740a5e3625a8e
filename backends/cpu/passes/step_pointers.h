// Turns addresses in innermost loops into stepping pointers. The address `base + 4*(outer + C*i)` costs a
// product, a sum and a shift in each iteration of i; a pointer that grows by 4*C replaces it. LLVM's loop
// strength reduction finds this too, but spends a fifth of code generation on weighing alternatives.
#pragma once

#include <cstdint>

namespace llvm {
class LoopInfo;
}  // namespace llvm

namespace kiln {

// In each innermost loop with one entry and one back edge, replaces addresses with an index x + C*i by pointers that
// grow in each iteration: i is the loop's 64-bit counter, C a constant, and x does not change in the loop. Makes at
// most `most` pointers in a loop, as many as fit registers (CostTable::stepping_pointers). Other addresses stay as they
// are.
void StepPointers(const llvm::LoopInfo& loops, int64_t most);

}  // namespace kiln
