// Translates operations of the tensor dialect: reshapes, slices and casts to views, and pads, concats and inserted
// slices to blocks. tensor.empty and splats become no blocks, and tensor.extract and tensor.dim are translated where
// they are used. Fails for other operations and for computed offsets, sizes and strides, after setting the refusal of
// `values`.
#pragma once

#include "backends/import/values.h"

namespace kiln {

mlir::LogicalResult TranslateTensorOp(mlir::Operation* op, Values& values);

}  // namespace kiln
