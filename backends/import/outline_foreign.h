// Cuts operations that a Program cannot express out of a function. Another compiler makes code of them, which the model
// calls between its tasks (lang/program/foreign_call.h):
//
//   %r = scf.for ... { uses %t and %n }      ->   %r = "kiln.foreign"(%t) {op = "scf.for", code = "module {...}", ...}
//
// A cut operation takes with it the operations whose results cannot be kept in a buffer (of a dynamic shape, say), those
// that lie on a path between two operations of one cut, and copies of constants and of scalar computations. So what
// crosses the border is tensors of static shape alone.
#pragma once

#include "backends/import/refusal.h"
#include "llvm/ADT/ArrayRef.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace kiln {

inline constexpr char kForeignOp[] = "kiln.foreign";
// Attributes of a kForeignOp, all strings: the first refusal, and the module with the function that takes the operands
// and returns the results. The module is empty if upstream MLIR does not know an operation in it.
inline constexpr char kForeignOperation[] = "op";
inline constexpr char kForeignReason[] = "reason";
inline constexpr char kForeignHint[] = "hint";
inline constexpr char kForeignCode[] = "code";

struct RefusedOp {
  mlir::Operation* op = nullptr;
  Refusal why;
};

// Cuts out these operations of the function's only block. Operations may change places. Constants of at least
// `least_detached` bytes (backends/import/constants.h) are operands and not copied.
void OutlineForeign(mlir::func::FuncOp function, llvm::ArrayRef<RefusedOp> refused, int64_t least_detached);

}  // namespace kiln
