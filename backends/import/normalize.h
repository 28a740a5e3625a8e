// Normalizes a parsed module to the form that the translation to Program reads: one flat function of linalg.generic,
// tensor operations and constants.
#pragma once

#include "mlir/IR/BuiltinOps.h"

namespace kiln {

// Lowers TOSA, makes integer types signless, expands stablehlo and tm_tensor operations (foreign/expand.h), turns
// tensor.bitcast into arith.bitcast, inlines, removes unused functions, canonicalizes, turns elementwise operations on
// tensors into linalg.generic, decomposes packs, gathers, scatters and softmax, turns named operations into
// linalg.generic (their names stay in the locations, see refusal.h), drops work on tensors without elements, turns
// operands with one element into scalars, canonicalizes again, and merges equal operations. `unrolls`: moves operations
// that do not change from iteration to iteration out of loops, and unrolls short loops (unroll_loops.h). If Normalize
// fails, a pass has emitted a diagnostic.
mlir::LogicalResult Normalize(mlir::ModuleOp module, bool unrolls);

}  // namespace kiln
