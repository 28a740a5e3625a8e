// Translates operations of the tensor dialect: reshapes, slices and casts to views, and pads, concats and inserted
// slices to blocks. tensor.empty, tensor.splat and tensor.from_elements of one element become no blocks, and
// tensor.extract and tensor.dim are translated where they are used. Fails for other operations, for computed offsets,
// sizes and strides, and for pads with values that are not constant, after setting the refusal of `values`.
#pragma once

#include "backends/import/values.h"

namespace kiln {

mlir::LogicalResult TranslateTensorOp(mlir::Operation* op, Values& values);

}  // namespace kiln
