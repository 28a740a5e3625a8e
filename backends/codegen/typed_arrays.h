// Gives stack memory types that LLVM's passes know.
#pragma once

namespace llvm {
class Function;
}

namespace kiln {

// Rewrites alloca T, i64 N -> alloca [N x T]. SROA promotes only the latter, and memref.alloca becomes the former.
void GiveArraysTheirType(llvm::Function& function);

}  // namespace kiln
