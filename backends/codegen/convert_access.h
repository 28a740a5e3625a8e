// Loads and stores of scalars and vectors in buffers of one dimension, which is what lowering emits:
//
//   %v = vector.load %m[%i]   ->   %p = llvm.getelementptr %pointer[%i]; %v = llvm.load %p
//
// MLIR's own patterns take a pointer out of a descriptor for each access, which LLVM then folds, and work out
// strides that are one; they stay for all others.
#pragma once

namespace mlir {
class LLVMTypeConverter;
class RewritePatternSet;
}  // namespace mlir

namespace kiln {

void AddAccessPatterns(const mlir::LLVMTypeConverter& types, mlir::RewritePatternSet& patterns);

}  // namespace kiln
