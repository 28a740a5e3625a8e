// The reason why an operation cannot be imported, and its place in the user's file.
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

// Why an operation is refused, and a hint what to do about it.
struct Why {
  std::string reason, hint;
};

// Fills in `refusal` and returns failure.
mlir::LogicalResult Refuse(Refusal& refusal, mlir::Operation* op, std::string reason, std::string hint);
inline constexpr char kTypesHint[] =
    "cast it when exporting: Kiln computes with f64, f32, f16, bf16, i1, i8, i16, i32 and i64";
inline constexpr char kMemrefHint[] = "import the tensors that it was bufferized from";
inline constexpr char kSplitHint[] = "cut it into operations on smaller tensors";

// Returns the place in a file that a location refers to, through inlining, fusing and naming: "FILE:LINE:COL" or
// "unknown location".
std::string Where(mlir::Location location);

// Returns the message of a refusal: "FILE:LINE:COL: OP is not supported (REASON)\n  hint: HINT".
std::string ToString(const Refusal& refusal);

// Returns the name of the named operation that normalization replaced, which it left in the operation's location;
// "" if there is none.
std::string OriginalName(mlir::Operation* op);
void SetOriginalName(mlir::Operation* op, llvm::StringRef name);

}  // namespace kiln
