// Cuts operations that a Program cannot express out of a function and replaces them by calls. Another compiler compiles
// them, and the model calls that code between its tasks (lang/program/foreign_call.h):
//
//   %r = scf.for ... { uses %t and %n }      ->   %r = "kiln.foreign"(%t) {op = "scf.for", code = "module {...}", ...}
//
// A cut operation takes with it the operations that it uses whose results cannot be kept in a buffer (of a dynamic
// shape, say), those that lie on a path between two operations of one cut, and copies of small constants and of scalar
// computations. So only tensors of static shape are passed into a cut.
#pragma once

#include "backends/import/refusal.h"
#include "llvm/ADT/ArrayRef.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace kiln {

inline constexpr char kForeignOp[] = "kiln.foreign";
// Attributes of a kForeignOp, all strings: the operation that was refused first, the reason, a hint, and the text of a
// module with the function that takes the operands and returns the results. The text is empty if upstream MLIR does not
// know an operation in the module, or if one calls a function.
inline constexpr char kForeignOperation[] = "op";
inline constexpr char kForeignReason[] = "reason";
inline constexpr char kForeignHint[] = "hint";
inline constexpr char kForeignCode[] = "code";

struct RefusedOp {
  mlir::Operation* op = nullptr;
  Refusal why;
};

// Cuts the refused operations, which are in the function's only block, out of the function, and puts calls in their
// place. Sorts the operations of the block again. Constants of at least `least_detached` bytes
// (backends/import/constants.h) are operands of calls and not copied.
void OutlineForeign(mlir::func::FuncOp function, llvm::ArrayRef<RefusedOp> refused, int64_t least_detached);

}  // namespace kiln
