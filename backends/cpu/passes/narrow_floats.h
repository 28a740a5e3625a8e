// Arithmetic on f16 and bf16 for machines that have none.
//
//   %c = arith.addf %a, %b : bf16   ->   widen %a and %b to f32, add, round to bf16
//
// Every operation of arith and math, and the arithmetic ones of vector, is done in f32 and its result
// rounded, so that results do not depend on the machine. Conversions of bf16 are integer steps; those of f16
// stay when the machine has them (`half`) and are integer steps otherwise, and constants of bf16 are made
// from their bits: no call into a compiler's runtime is left. Rounding is to nearest even; denormals,
// infinities and NaN are kept. From f64 values are rounded twice, through f32. Modules without narrow floats
// are left as they are, at the price of one walk.
#pragma once

namespace mlir {
class ModuleOp;
}

namespace kiln {

void ExpandNarrowFloats(mlir::ModuleOp module, bool half);

}  // namespace kiln
