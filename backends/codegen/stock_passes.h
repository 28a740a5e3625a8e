// Upstream MLIR's passes from bufferized linalg to loops on memrefs, for code that Kiln does not schedule: the stock
// pipeline (backends/vendor) and foreign calls (backends/lower/lower_foreign.h).
#pragma once

#include "mlir/IR/BuiltinOps.h"
#include "mlir/Pass/PassManager.h"

namespace kiln {

// Adds the passes linalg -> loops, subviews and affine -> arith, canonicalize, CSE.
void AddLoopPasses(mlir::PassManager& passes);

// Replaces memref.copy by loops. For strided buffers it would call MLIR's own runtime.
void CopiesToLoops(mlir::ModuleOp module);

}  // namespace kiln
