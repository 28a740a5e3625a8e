// Translates constant tensors.
#pragma once

#include "backends/import/values.h"
#include "mlir/Dialect/Arith/IR/Arith.h"

namespace kiln {

// A splat becomes one scalar. Other constants become constant buffers with their bytes, or parameters if the
// file leaves out the bytes, or if they are large and `values` detaches such.
mlir::LogicalResult TranslateConstant(mlir::arith::ConstantOp op, Values& values);

// True if ImportOptions::large_constants is meant for it.
bool IsLargeConstant(mlir::Operation* op);

// Appends the bytes to the file. Returns how many, or -1 if they cannot be written.
int64_t AppendLargeConstant(mlir::arith::ConstantOp op, int file);

}  // namespace kiln
