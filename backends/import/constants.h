// Constants that are tensors.
#pragma once

#include "backends/import/values.h"
#include "mlir/Dialect/Arith/IR/Arith.h"

namespace kiln {

// A splat stays one scalar; others become constant buffers with their bytes, or parameters where the file
// left the bytes out.
mlir::LogicalResult TranslateConstant(mlir::arith::ConstantOp op, Values& values);

}  // namespace kiln
