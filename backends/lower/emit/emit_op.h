// Emits one operation of an expression: the table from Op to arith, math and vector operations. Private to
// emit/.
#pragma once

#include "backends/lower/emit/emit_code.h"

namespace kiln {

// Emits the operation on its operands, of which those that it does not have are null. If one is a vector, the others become
// vectors.
mlir::Value EmitOperation(CodeBuilder& code, const Expr& e, mlir::Value a, mlir::Value b, mlir::Value c);

}  // namespace kiln
