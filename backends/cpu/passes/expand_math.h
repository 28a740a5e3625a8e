// Chooses the form of each operation of the math dialect before the conversion to LLVM.
//
//   f32, with `polynomials`, with `fma`
//     exp log tanh erf       vector_math.h, but for tanh with fastmath<afn>
//     powf                   vector_math.h for vectors, and for the exponents 2 and 3
//     sin cos rsqrt          vector_math.h for vectors
//     divf                   vector_math.h for vectors with one divisor for all lanes
//   f32, with `polynomials`  what remains of exp log tanh erf, and expm1 log1p log2: inlined polynomials, at
//                            most 5 ULP off
//   no good LLVM intrinsic   what remains of erf erfc cbrt acosh asinh atanh expm1 log1p: a libm call per lane
//   fpowi                    a chain of products for a constant exponent, else powf
//   ipowi                    a function in the module
//   all others               stay: LLVM intrinsics, which become instructions or, per lane, libm calls
//
// tests/backends/math_table_test.cc has the error bounds of each operation and the inputs for which they
// hold. narrow_floats.h has removed narrow floats before. Modules without such operations cost one walk.
#pragma once

#include "mlir/IR/BuiltinOps.h"
#include "mlir/Rewrite/FrozenRewritePatternSet.h"

namespace kiln {

// Creates the patterns once and keeps them. Run rewrites a module; `tables` is as in vector_math.h. One thread.
class MathExpander {
 public:
  explicit MathExpander(mlir::MLIRContext& context);
  mlir::LogicalResult Run(mlir::ModuleOp module, bool polynomials, bool fma, bool tables) const;

 private:
  mlir::FrozenRewritePatternSet polynomials_;
  mlir::FrozenRewritePatternSet libm_;
};

}  // namespace kiln
