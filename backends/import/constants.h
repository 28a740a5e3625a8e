// Translates constant tensors.
#pragma once

#include "backends/import/values.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace kiln {

// Translates a constant tensor. A splat becomes one scalar. Others become constant buffers with their bytes, or
// parameters if the file leaves out the bytes, or if they are detached (Values::least_detached).
mlir::LogicalResult TranslateConstant(mlir::arith::ConstantOp op, Values& values);

// Returns the bytes from which on constants go to ImportOptions::large_constants: 64 if a constant that may go there has
// 64 KiB or more, otherwise INT64_MAX, so that none goes. Thus the weights of a model are outside of it, and equal layers
// are equal tasks; a model with small tables alone needs no such file.
int64_t LeastDetached(mlir::func::FuncOp function);

// Returns whether the operation is a constant that may be detached, of at least so many bytes. Splats, i1, i32 and i64 may
// not: integers may be indices.
bool IsDetached(mlir::Operation* op, int64_t least);

// Appends the bytes to the file. Returns how many, or -1 if they cannot be written.
int64_t AppendLargeConstant(mlir::arith::ConstantOp op, int file);

}  // namespace kiln
