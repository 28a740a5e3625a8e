// Why an operation cannot be imported, and where it stands in the user's file.
#pragma once

#include <string>

#include "mlir/IR/Location.h"
#include "mlir/IR/Operation.h"

namespace kiln {

struct Refusal {
  std::string location;  // "FILE:LINE:COL"
  std::string op;
  std::string reason;
  std::string hint;
};

// Fills `refusal` in and fails.
mlir::LogicalResult Refuse(Refusal& refusal, mlir::Operation* op, std::string reason, std::string hint);
inline constexpr char kTypesHint[] =
    "export with fixed shapes, as tensors of f64, f32, f16, bf16, i1, i8, i16, i32 or i64";

// The place in a file that a location leads to, through inlining, fusing and naming; "FILE:LINE:COL" or
// "unknown location".
std::string Where(mlir::Location location);

// "FILE:LINE:COL: OP is not supported (REASON)\n  hint: HINT"
std::string ToString(const Refusal& refusal);

// The name that normalization left in an operation's location: that of the named operation it was made from;
// or empty.
std::string OriginalName(mlir::Operation* op);
void SetOriginalName(mlir::Operation* op, llvm::StringRef name);

}  // namespace kiln
