// Translates constant tensors.
#pragma once

#include "backends/import/values.h"
#include "mlir/Dialect/Arith/IR/Arith.h"

namespace kiln {

// A splat becomes one scalar. Other constants become constant buffers with their bytes, or parameters if the
// file leaves out the bytes.
mlir::LogicalResult TranslateConstant(mlir::arith::ConstantOp op, Values& values);

}  // namespace kiln
