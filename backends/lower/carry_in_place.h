// Prepares loops that carry tensors for bufferization, so that each carried tensor has one buffer for all iterations and
// an iteration keeps no memory for the next one:
//
//   scf.for iter_args(%x = %a, %y = %b)  { ... scf.yield %v, %w }
//   -> scf.for iter_args(%x = %a, %y = %b) { ... %v2 = materialize %v in %x; %w2 = materialize %w in %y; scf.yield %v2, %w2 }
//
// A value that may share its buffer with another carried tensor is copied before. One that shares it with the tensor in
// whose place it is carried stays as it is, unless the caller asks for copies. An scf.while whose condition passes on
// other values than it was given carries those, too.
#pragma once

#include "absl/status/status.h"
#include "mlir/IR/Operation.h"

namespace kiln {

// Prepares all loops in `root`. kInvalidArgument if one carries a tensor of dynamic size, or if a scf.while passes on a
// value that is neither a ranked tensor nor a number.
absl::Status CarryInPlace(mlir::Operation* root, bool copies);

}  // namespace kiln
