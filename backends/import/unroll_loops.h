// Unrolls loops whose iterations are worth scheduling.
#pragma once

#include "mlir/IR/BuiltinOps.h"

namespace kiln {

// Unrolls each innermost scf.for that runs a few times, a constant number, and whose body has a reduction of static
// shape, such as the products of an LSTM's step. Its operations are then those of the function. Returns whether there was
// one. Expects linalg.generic in place of named operations.
bool UnrollLoops(mlir::ModuleOp module);

}  // namespace kiln
