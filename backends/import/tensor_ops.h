// Operations of the tensor dialect: views where they can be, else blocks.
#pragma once

#include "backends/import/values.h"

namespace kiln {

mlir::LogicalResult TranslateTensorOp(mlir::Operation* op, Values& values);

}  // namespace kiln
