// Translates a normalized function (normalize.h) of linalg.generic, tensor operations and constants to a Program. With
// ImportOptions::allow_boundaries, first replaces the operations of `function` that cannot be translated by calls
// (outline_foreign.h).
#pragma once

#include "absl/status/statusor.h"
#include "backends/import/import.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace kiln {

absl::StatusOr<Imported> Translate(mlir::func::FuncOp function, absl::string_view name,
                                   const ImportOptions& options);

}  // namespace kiln
