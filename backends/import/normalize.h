// Normalizes a module to the form that translation reads: one flat function of linalg.generic, tensor
// operations and constants.
#pragma once

#include "mlir/IR/BuiltinOps.h"

namespace kiln {

// Inlines, removes unused code, canonicalizes, generalizes named operations (their names stay in the
// locations, see refusal.h), and turns operands with one element into scalars. `unrolls`: takes out of loops what does not
// change in them, and unrolls short ones (unroll_loops.h). Fails after emitting a diagnostic.
mlir::LogicalResult Normalize(mlir::ModuleOp module, bool unrolls);

}  // namespace kiln
