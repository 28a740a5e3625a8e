// Rewrites operations that the translation to Program does not know. Normalization (normalize.h) runs these rewrites
// before it makes named linalg operations generic, except DropEmpty, which it runs after that.
#pragma once

#include "mlir/IR/BuiltinOps.h"

namespace kiln {

// Lowers all TOSA operations with MLIR's own passes. If a pass fails, emits a diagnostic and fails.
mlir::LogicalResult LowerTosa(mlir::ModuleOp module);

// Turns signed and unsigned element types into signless ones with the same bits. Each operation still says whether it
// reads its operands as signed. Removes casts between signed and unsigned types.
void MakeSignless(mlir::ModuleOp module);

// Replaces each tensor.bitcast by arith.bitcast, which works element by element.
void MakeBitcastsScalar(mlir::ModuleOp module);

// Rewrites linalg.pack and unpack as pads, reshapes, transposes and slices, and tensor.gather and scatter as
// linalg.generics. Operations that cannot be rewritten, such as those of dynamic shape, stay as they are.
void DecomposeNamed(mlir::ModuleOp module);

// True for a tensor of static shape with an extent of 0.
bool HasNoElements(mlir::Value value);

// Replaces each linalg.generic without iterations by its initial values, and each operation without effects whose only
// result has no elements by tensor.empty. Removes reads of tensors without elements in concats, inserted slices, and
// pads with a constant.
void DropEmpty(mlir::ModuleOp module);

}  // namespace kiln
