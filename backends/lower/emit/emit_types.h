// Maps element types (DType) to MLIR types. Private to emit/.
#pragma once

#include "lang/program/dtype.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Value.h"

namespace kiln {

// Return the MLIR type of a value in a register, and in memory. An i1 takes a byte in memory, and an index is an i64.
mlir::Type RegisterType(mlir::OpBuilder& b, DType type);
mlir::Type MemoryType(mlir::OpBuilder& b, DType type);

// Returns the type `element`, or a vector of it if `shape` is a vector.
mlir::Type WithElement(mlir::Value shape, mlir::Type element);

inline bool IsVector(mlir::Value value) { return value && mlir::isa<mlir::VectorType>(value.getType()); }

}  // namespace kiln
