// linalg.generic becomes one block for each result that is used (one for the two of an argmax),
// and one for its assertions.
#pragma once

#include "backends/import/values.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"

namespace kiln {

mlir::LogicalResult TranslateGeneric(mlir::linalg::GenericOp op, Values& values);

}  // namespace kiln
