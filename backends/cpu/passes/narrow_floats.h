// Replaces arithmetic on f16 and bf16 by arithmetic on f32, also on machines that have instructions for f16 or bf16.
//
//   %c = arith.addf %a, %b : bf16   ->   widen %a and %b to f32, add, round to bf16
//
// Every operation of arith and math except constants, bitcasts, selects and conversions between floats, and each
// arithmetic operation of vector (such as fma and reduction), is computed in f32 and its result rounded, so that
// results do not depend on the machine. Conversions of bf16 become integer steps. Those of f16 stay if the machine has
// them (`half`), and become integer steps otherwise. Constants of bf16 are created from their bits. So no call into a
// compiler's runtime remains. Rounding is to nearest even; denormals, infinities and NaN are preserved. Values from f64
// are rounded twice, through f32. Modules without narrow floats are not changed and cost three walks.
#pragma once

namespace mlir {
class ModuleOp;
}

namespace kiln {

void ExpandNarrowFloats(mlir::ModuleOp module, bool half);

}  // namespace kiln
