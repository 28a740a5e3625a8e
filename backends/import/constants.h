// Translates constant tensors of the imported function, and writes the bytes of large ones to a file.
#pragma once

#include "backends/import/values.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace kiln {

// Translates a constant tensor. A splat becomes one scalar. Other constants become constant buffers with their bytes,
// or parameters without bytes if the file leaves them out or if the constant is large (Values::least_detached). Scalars
// are translated where they are used.
mlir::LogicalResult TranslateConstant(mlir::arith::ConstantOp op, Values& values);

// Returns the size in bytes from which on constants are written to ImportOptions::large_constants instead of the
// program: 64 if some constant that may be written there has 64 KiB or more, otherwise INT64_MAX, so that none is. So
// the program of a model does not contain its weights, and equal layers are equal tasks; a model with small tables
// alone needs no file.
int64_t LeastDetached(mlir::func::FuncOp function);

// True if the operation is a constant of at least `least` bytes that may become a parameter without bytes. Splats, i1,
// i32, i64 and index may not, since integers may be indices or sizes.
bool IsDetached(mlir::Operation* op, int64_t least);

// Appends the bytes of a constant to the file. Returns how many, or -1 if they cannot be written.
int64_t AppendLargeConstant(mlir::arith::ConstantOp op, int file);

}  // namespace kiln
