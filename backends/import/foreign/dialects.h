// Registers dialects that exporters leave in a file and that upstream MLIR does not have: stablehlo and tm_tensor. Kiln
// parses their operations only as far as it can expand them (expand.h). It reads the generic form of all, and the short
// form of those of tm_tensor and of stablehlo.while and stablehlo.return.
#pragma once

#include "mlir/IR/DialectRegistry.h"

namespace kiln {

void AddForeignDialects(mlir::DialectRegistry& registry);

}  // namespace kiln
