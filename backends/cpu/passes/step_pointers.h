// Addresses of innermost loops that step: of `base + 4*(outer + C*i)` in a loop of i, which costs a product,
// a sum and a shift in each iteration, a pointer that grows by 4*C. It is what LLVM's loop strength reduction
// finds as well, which takes a fifth of code generation to weigh all other ways.
#pragma once

namespace llvm {
class LoopInfo;
}  // namespace llvm

namespace kiln {

// In loops that have no other within and one way in and back, for at most six pointers of each, which are
// few enough to stay in registers. Other addresses are left as they are.
void StepPointers(const llvm::LoopInfo& loops);

}  // namespace kiln
