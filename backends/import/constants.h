// Translates constant tensors.
#pragma once

#include "backends/import/values.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace kiln {

// A splat becomes one scalar. Other constants become constant buffers with their bytes, or parameters if the
// file leaves out the bytes, or if `values` detaches such.
mlir::LogicalResult TranslateConstant(mlir::arith::ConstantOp op, Values& values);

// ImportOptions::large_constants is meant for constants of at least so many bytes: none, unless one of the function has
// 64 KiB, and then all but the smallest. Then a model with weights in its file has them all at one place, so that equal
// layers are equal tasks, and one with small tables alone needs no weights.
int64_t LeastDetached(mlir::func::FuncOp function);

// True for a constant of such a size, which is neither a splat nor made of indices.
bool IsDetached(mlir::Operation* op, int64_t least);

// Appends the bytes to the file. Returns how many, or -1 if they cannot be written.
int64_t AppendLargeConstant(mlir::arith::ConstantOp op, int file);

}  // namespace kiln
