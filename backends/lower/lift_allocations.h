// Turns the arrays that a function allocates on the heap into parameters, so that its caller provides them:
//
//   func @f(%x) { %t = memref.alloc() ... memref.dealloc %t }   ->   func @f(%x, %t) { ... }
//
// So the code of a whole model runs in an arena of its caller. Arrays of dynamic size stay in the function, which calls
// malloc for them alone. If each iteration of a parallel loop has its own copy of an array, the parameter holds
// `pieces` arrays, one for each thread (docs/decisions/0024). At most `pieces` threads then run the loop
// (backends/cpu/passes/outline_parallel.h).
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "mlir/IR/BuiltinOps.h"

namespace kiln {

inline constexpr int kMaxPieces = 64;

// Turns the heap arrays of `function` into parameters, and returns the bytes of each new parameter, in order. Arrays of
// dynamic size stay in the function. `pieces`: for how many threads a parameter has private arrays, 2 to kMaxPieces.
std::vector<int64_t> LiftAllocations(mlir::ModuleOp module, const std::string& function, int pieces);

}  // namespace kiln
