// Rewrites operations that the translation to Program does not know: before named linalg operations become generic
// ones, operations that are not linalg on signless tensors; after that, operations without iterations.
#pragma once

#include "mlir/IR/BuiltinOps.h"

namespace kiln {

// Lowers TOSA with MLIR's own passes. Fails after emitting a diagnostic.
mlir::LogicalResult LowerTosa(mlir::ModuleOp module);

// Turns signed and unsigned element types into signless ones with the same bits. Each operation still says whether it
// reads its operands as signed. Removes casts between signed and unsigned types.
void MakeSignless(mlir::ModuleOp module);

// Replaces each tensor.bitcast by arith.bitcast, which works element by element.
void MakeBitcastsScalar(mlir::ModuleOp module);

// Rewrites linalg.pack and unpack as pads, reshapes, transposes and slices, and tensor.gather and scatter as
// linalg.generics.
void DecomposeNamed(mlir::ModuleOp module);

// True for a tensor with an extent of 0.
bool HasNoElements(mlir::Value value);

// Replaces each linalg.generic without iterations by its initial values, and each operation whose result has no
// elements by tensor.empty. Removes reads of tensors without elements in pads, concats and inserted slices.
void DropEmpty(mlir::ModuleOp module);

}  // namespace kiln
