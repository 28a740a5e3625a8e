// Dialects that exporters leave in a file and that upstream MLIR does not have: stablehlo and tm_tensor. They are known
// well enough to read operations for which Kiln has an expansion (expand.h), in the short form and in the generic one.
#pragma once

#include "mlir/IR/DialectRegistry.h"

namespace kiln {

void AddForeignDialects(mlir::DialectRegistry& registry);

}  // namespace kiln
