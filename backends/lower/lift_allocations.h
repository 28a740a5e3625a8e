// Makes parameters of the arrays that a function allocates on the heap, so that its caller gives them:
//
//   func @f(%x) { %t = memref.alloc() ... memref.dealloc %t }   ->   func @f(%x, %t) { ... }
//
// Code of a whole model runs in an arena of its caller and calls no malloc. For an array that each iteration of a
// parallel loop has for itself, the parameter holds `pieces` arrays, one for each thread (docs/decisions/0024). At
// most so many threads then run the loop (backends/cpu/passes/outline_parallel.h).
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "mlir/IR/BuiltinOps.h"

namespace kiln {

inline constexpr int kMaxPieces = 64;

// Returns the bytes of each new parameter, in order. Arrays of dynamic size stay. `pieces`: 2 to kMaxPieces.
std::vector<int64_t> LiftAllocations(mlir::ModuleOp module, const std::string& function, int pieces);

}  // namespace kiln
