// Translates operations of the tensor dialect: reshapes, slices and casts to views, and pads, concats and inserted
// slices to blocks.
#pragma once

#include "backends/import/values.h"

namespace kiln {

mlir::LogicalResult TranslateTensorOp(mlir::Operation* op, Values& values);

}  // namespace kiln
