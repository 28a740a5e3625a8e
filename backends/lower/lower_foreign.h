// Lowers a function on tensors that no Program expresses (loops with carried tensors, sorting, ...) with the passes of
// upstream MLIR, so that a model can call it as it calls its tasks.
//
//   func.func @f(%a: tensor<4xf32>) -> tensor<4xf32>
//   -> func.func @SYMBOL(%a: memref<4xf32>, %result: memref<4xf32>, WORKSPACES...) -> i32
//
//   loops carry in place (carry_in_place.h) -> one-shot-bufferize -> linalg to loops -> temporaries become parameters
//   -> a failed cf.assert returns 1
//
// The function does not change its inputs, which its outputs must not overlap. It allocates nothing if the size of each
// temporary has a constant bound; other temporaries are allocated in the call.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"

namespace kiln {

struct ForeignCode {
  mlir::OwningOpRef<mlir::ModuleOp> module;
  std::vector<int64_t> workspaces;  // bytes of each parameter for temporaries; they come after the results
  bool has_status = false;          // whether the function may return 1 (a failed cf.assert), not only 0
};

// Lowers `text`: a module with one function with a body, on ranked tensors of static shape. The result's function has
// the name `symbol`. `doubles`: replaces all other floats by f64, as WithDoubles (lang/graph/with_doubles.h) does for
// programs. Returns kInvalidArgument with the message of the pass that refuses the function; with `doubles`, also if
// the bits of a float are read as those of another type.
absl::StatusOr<ForeignCode> LowerForeign(absl::string_view text, const std::string& symbol,
                                         mlir::MLIRContext& context, bool doubles = false);

}  // namespace kiln
