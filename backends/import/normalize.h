// Brings a module to the small form that translation reads: one flat function of linalg.generic, tensor
// operations and constants.
#pragma once

#include "mlir/IR/BuiltinOps.h"

namespace kiln {

// Inlines, drops what is unused, canonicalizes, generalizes named operations (whose names stay in the
// locations, see refusal.h), and makes scalars out of one-element operands. Fails after an emitted
// diagnostic.
mlir::LogicalResult Normalize(mlir::ModuleOp module);

}  // namespace kiln
