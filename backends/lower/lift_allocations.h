// Makes parameters of the arrays that a function allocates on the heap, so that its caller gives them:
//
//   func @f(%x) { %t = memref.alloc() ... memref.dealloc %t }   ->   func @f(%x, %t) { ... }
//
// Code of a whole model runs in an arena of its caller and calls no malloc.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "mlir/IR/BuiltinOps.h"

namespace kiln {

// Returns the bytes of each new parameter, in order. Arrays that each iteration of a parallel loop has for itself stay:
// each thread needs one.
std::vector<int64_t> LiftAllocations(mlir::ModuleOp module, const std::string& function);

}  // namespace kiln
