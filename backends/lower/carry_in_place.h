// Prepares loops that carry tensors for bufferization, so that each carried tensor has one buffer for all iterations,
// and each iteration writes the next value to this buffer:
//
//       scf.for iter_args(%x = %a, %y = %b) { ... scf.yield %v, %w }
//   ->  scf.for iter_args(%x = %a, %y = %b) {
//         ... %v2 = materialize %v in %x; %w2 = materialize %w in %y; scf.yield %v2, %w2
//       }
//
// A next value that may share its buffer with another carried tensor is copied first. A next value that may share the
// buffer of the tensor that it replaces stays as it is, unless the caller asks for copies. An scf.while whose condition
// passes other values to its body than it was given is changed to carry those values, too.
#pragma once

#include "absl/status/status.h"
#include "mlir/IR/Operation.h"

namespace kiln {

// Prepares all scf.for and scf.while in `root` for bufferization: each iteration writes the next value of a carried
// tensor to the buffer of this tensor. Copies a next value first if it may share its buffer with another carried tensor
// and, with `copies`, also if it may share the buffer of the tensor that it replaces. kInvalidArgument if a loop
// carries a tensor of dynamic size, or if the condition of an scf.while passes other values to the body than the loop
// carries and one of them is neither a ranked tensor nor a number.
absl::Status CarryInPlace(mlir::Operation* root, bool copies);

}  // namespace kiln
