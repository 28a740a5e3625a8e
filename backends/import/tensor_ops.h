// Translates operations of the tensor dialect: to views if possible, otherwise to blocks.
#pragma once

#include "backends/import/values.h"

namespace kiln {

mlir::LogicalResult TranslateTensorOp(mlir::Operation* op, Values& values);

}  // namespace kiln
