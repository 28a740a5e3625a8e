// Rewrites arrays on the stack so that LLVM's passes can promote them to registers.
#pragma once

namespace llvm {
class Function;
}

namespace kiln {

// Rewrites the allocas of a function's entry block that have a constant number of elements: alloca T, i64 N becomes
// alloca [N x T]. LLVM's SROA promotes only the latter, and memref.alloca becomes the former.
void GiveArraysTheirType(llvm::Function& function);

}  // namespace kiln
