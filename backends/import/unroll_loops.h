// Unrolls scf.for loops whose iterations have reductions, so that these reductions can be tuned.
#pragma once

#include "mlir/IR/BuiltinOps.h"

namespace kiln {

// Unrolls each innermost scf.for that runs a constant number of times and whose body has a reduction of static shape,
// such as the products of an LSTM's step. The loop may have at most 32 iterations, or 128 if the reductions of an
// iteration have 16,384 terms or more. The body must have no effects, and the unrolled code at most 4,096 operations.
// The unrolled operations are then operations of the function, and equal steps are one task. Returns true if a loop was
// unrolled. Expects linalg.generic in place of named operations.
bool UnrollLoops(mlir::ModuleOp module);

}  // namespace kiln
