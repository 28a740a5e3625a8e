// Translates a normalized function (normalize.h) of linalg.generic, tensor operations and constants to a Program.
#pragma once

#include "absl/status/statusor.h"
#include "backends/import/import.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace kiln {

absl::StatusOr<Imported> Translate(mlir::func::FuncOp function, absl::string_view name,
                                   const ImportOptions& options);

}  // namespace kiln
