// Emits one operation of an expression: the table from Op to arith, math and vector operations. Private to
// emit/.
#pragma once

#include "backends/lower/emit/emit_code.h"

namespace kiln {

// Emits the operation of `e` on the operands a, b and c; operands that it does not have are null. If one operand is a
// vector, the others are broadcast to vectors.
mlir::Value EmitOperation(CodeBuilder& code, const Expr& e, mlir::Value a, mlir::Value b, mlir::Value c);

}  // namespace kiln
