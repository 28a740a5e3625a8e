// Rewrites before and after named operations become generic ones. Operations that are not linalg on signless
// tensors, or have no iterations, are expressed by other operations.
#pragma once

#include "mlir/IR/BuiltinOps.h"

namespace kiln {

// Lowers TOSA with MLIR's own passes. Fails after emitting a diagnostic.
mlir::LogicalResult LowerTosa(mlir::ModuleOp module);

// Turns signed and unsigned element types into signless ones with the same bits; the operations tell how they
// read them. Casts between the two disappear.
void MakeSignless(mlir::ModuleOp module);

// Rewrites linalg.pack and unpack as pads, reshapes, transposes and slices, and tensor.gather and scatter as
// linalg.generics.
void DecomposeNamed(mlir::ModuleOp module);

// True for a tensor with an extent of 0.
bool HasNoElements(mlir::Value value);

// Replaces operations without iterations by their initial values, and removes reads of tensors without
// elements.
void DropEmpty(mlir::ModuleOp module);

}  // namespace kiln
