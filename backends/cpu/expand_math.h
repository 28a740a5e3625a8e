// Which form each operation of the math dialect takes before conversion to LLVM.
//
//   f32, polynomials on      exp expm1 log log1p log2 tanh erf: inlined polynomials, at most 5 ULP from exact
//   no good LLVM intrinsic   erf erfc cbrt acosh asinh atanh expm1 log1p: a libm call per lane
//   fpowi                    a chain of products for a constant exponent, else powf
//   ipowi                    a function in the module
//   all others               stay: LLVM intrinsics, which become instructions or, per lane, libm calls
//
// Narrow floats are gone before (narrow_floats.h). Modules without such operations pay one walk.
#pragma once

#include "mlir/IR/BuiltinOps.h"
#include "mlir/Rewrite/FrozenRewritePatternSet.h"

namespace kiln {

// Holds the patterns, which are worth keeping: making them costs as much as applying them. One thread.
class MathExpander {
 public:
  explicit MathExpander(mlir::MLIRContext& context);
  mlir::LogicalResult Run(mlir::ModuleOp module, bool polynomials) const;

 private:
  mlir::FrozenRewritePatternSet polynomials_;
  mlir::FrozenRewritePatternSet libm_;
};

}  // namespace kiln
