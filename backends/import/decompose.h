// Rewrites operations that translation does not know, before and after named operations become generic ones:
// operations that are not linalg on signless tensors, and operations without iterations.
#pragma once

#include "mlir/IR/BuiltinOps.h"

namespace kiln {

// Lowers TOSA with MLIR's own passes. Fails after emitting a diagnostic.
mlir::LogicalResult LowerTosa(mlir::ModuleOp module);

// Turns signed and unsigned element types into signless ones with the same bits. The operations still say
// whether they read them as signed. Casts between the two disappear.
void MakeSignless(mlir::ModuleOp module);

// Makes arith.bitcast of tensor.bitcast.
void MakeBitcastsScalar(mlir::ModuleOp module);

// Rewrites linalg.pack and unpack as pads, reshapes, transposes and slices, and tensor.gather and scatter as
// linalg.generics.
void DecomposeNamed(mlir::ModuleOp module);

// True for a tensor with an extent of 0.
bool HasNoElements(mlir::Value value);

// Replaces operations without iterations by their initial values, and removes reads of tensors without
// elements.
void DropEmpty(mlir::ModuleOp module);

}  // namespace kiln
