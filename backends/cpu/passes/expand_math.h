// Rewrites the operations of the math dialect, and f32 divisions, to code that is fast on the CPU, before the
// conversion to LLVM. `polynomials`, `fma` and `tables` are the arguments of MathExpander::Run.
//
//   f32, with `polynomials`, with `fma`
//     exp log tanh erf       vector_math.h, except for tanh with fastmath<afn>
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
// tests/backends/math_table_test.cc has the error bounds of each operation and the inputs for which they hold. Narrow
// floats have been removed before (narrow_floats.h). Modules without such operations cost a few walks.
#pragma once

#include "mlir/IR/BuiltinOps.h"
#include "mlir/Rewrite/FrozenRewritePatternSet.h"

namespace kiln {

// Rewrites the math operations of modules to polynomials or calls of libm. The constructor creates the rewrite
// patterns, and Run applies them to a module. Without `polynomials`, exp, tanh and so on are left to libm. `fma` says
// that the machine has fused multiply-adds, which vector_math.h needs. `tables` allows lookup tables in registers,
// which take AVX-512. One thread at a time.
class MathExpander {
 public:
  explicit MathExpander(mlir::MLIRContext& context);
  mlir::LogicalResult Run(mlir::ModuleOp module, bool polynomials, bool fma, bool tables) const;

 private:
  mlir::FrozenRewritePatternSet polynomials_;
  mlir::FrozenRewritePatternSet libm_;
};

}  // namespace kiln
