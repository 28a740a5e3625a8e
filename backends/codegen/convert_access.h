// Converts loads and stores of scalars and vectors in one-dimensional buffers, which lowering emits:
//
//   %v = vector.load %m[%i]   ->   %p = llvm.getelementptr %pointer[%i]; %v = llvm.load %p
//
// For each access, MLIR's own patterns extract a pointer from a descriptor, which LLVM then folds, and
// multiply by strides of one. These patterns avoid that; MLIR's patterns handle all other accesses.
#pragma once

namespace mlir {
class LLVMTypeConverter;
class RewritePatternSet;
}  // namespace mlir

namespace kiln {

void AddAccessPatterns(const mlir::LLVMTypeConverter& types, mlir::RewritePatternSet& patterns);

}  // namespace kiln
