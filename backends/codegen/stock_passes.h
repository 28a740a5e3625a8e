// Upstream MLIR's passes from bufferized linalg to loops on memrefs, for code that Kiln does not schedule: the stock
// pipeline (backends/vendor) and foreign calls (backends/lower/lower_foreign.h).
#pragma once

#include "mlir/IR/BuiltinOps.h"
#include "mlir/Pass/PassManager.h"

namespace kiln {

// Adds passes that lower linalg to loops, expand subviews and composite operations of arith (such as ceildivsi), lower
// affine to arith and scf, canonicalize, and run CSE.
void AddLoopPasses(mlir::PassManager& passes);

// Replaces each memref.copy by a loop nest. MLIR would lower copies of strided buffers to calls of its own runtime
// library.
void CopiesToLoops(mlir::ModuleOp module);

}  // namespace kiln
