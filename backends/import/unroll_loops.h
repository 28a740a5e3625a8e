// Unrolls loops whose iterations are worth scheduling.
#pragma once

#include "mlir/IR/BuiltinOps.h"

namespace kiln {

// Unrolls each innermost scf.for that runs a constant number of times and whose body has a reduction of static shape,
// such as the products of an LSTM's step: of at most 32 iterations, or of at most 128 whose reductions have 16,384 terms
// or more. The body must have no effects, and the unrolled code at most 4,096 operations. These are then operations of
// the function, and equal steps are one task. Returns whether a loop was unrolled. Expects linalg.generic in place of
// named operations.
bool UnrollLoops(mlir::ModuleOp module);

}  // namespace kiln
