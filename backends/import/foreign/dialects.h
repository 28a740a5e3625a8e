// Registers dialects that exporters leave in a file and that upstream MLIR does not have: stablehlo and tm_tensor. Kiln
// parses their operations only as far as it can expand them (expand.h), in the generic form and in the short one. Of
// stablehlo, only while and return have their short form parsed.
#pragma once

#include "mlir/IR/DialectRegistry.h"

namespace kiln {

void AddForeignDialects(mlir::DialectRegistry& registry);

}  // namespace kiln
