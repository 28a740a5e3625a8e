// Expands operations of dialects that upstream MLIR does not have to loops on tensors:
//
//   stablehlo.while                     scf.while
//   stablehlo.sort, tm_tensor.sort      a merge sort of each row; equal elements keep their order
//   tm_tensor.scan, topk, scatter       loops that extract and insert elements
//
// Operations in a form that is not recognized, and all other operations, stay as they are.
#pragma once

#include "mlir/IR/BuiltinOps.h"

namespace kiln {

void ExpandForeign(mlir::ModuleOp module);

}  // namespace kiln
