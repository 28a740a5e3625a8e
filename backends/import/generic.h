// Translates a linalg.generic to blocks: one for each used result, one or more for both results of an argmax
// (arg_blocks.h), and one that checks all its assertions, if there are any. A fill (the same scalar for each element)
// becomes no block: its readers use the scalar. If Kiln cannot express the operation, sets the refusal of `values` and
// fails.
#pragma once

#include "backends/import/values.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"

namespace kiln {

mlir::LogicalResult TranslateGeneric(mlir::linalg::GenericOp op, Values& values);

}  // namespace kiln
