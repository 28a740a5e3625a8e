// Rewrites before and after named operations become generic ones: what is not linalg on tensors of signless
// types, or has no iterations, in terms of what is.
#pragma once

#include "mlir/IR/BuiltinOps.h"

namespace kiln {

// TOSA by MLIR's own passes. Fails after an emitted diagnostic.
mlir::LogicalResult LowerTosa(mlir::ModuleOp module);

// Signed and unsigned element types become signless ones of the same bits; what an operation reads them as is
// the operation's. Casts between the two vanish.
void MakeSignless(mlir::ModuleOp module);

// linalg.pack and unpack become pads, reshapes, transposes and slices,
// and tensor.gather and scatter linalg.generics.
void DecomposeNamed(mlir::ModuleOp module);

// A tensor of which an extent is 0.
bool HasNoElements(mlir::Value value);

// Operations without iterations give what they start from, and a tensor without elements is read by none.
void DropEmpty(mlir::ModuleOp module);

}  // namespace kiln
