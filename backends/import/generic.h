// Translates a linalg.generic to blocks: one block for each used result (one for both results of an argmax), and one
// that checks its assertions.
#pragma once

#include "backends/import/values.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"

namespace kiln {

mlir::LogicalResult TranslateGeneric(mlir::linalg::GenericOp op, Values& values);

}  // namespace kiln
