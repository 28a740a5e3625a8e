// The error of an import: the operation that cannot be imported, its place in the user's file, the reason, and a hint.
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

// The reason why an operation cannot be imported, and a hint what the user can do about it.
struct Why {
  std::string reason, hint;
};

// Sets `refusal` to the operation, its place in the file, the reason and the hint. Returns failure.
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

// Returns the name of the linalg operation, such as "matmul", from which normalization made this linalg.generic; "" if
// there is none. SetOriginalName stores it in the operation's location.
std::string OriginalName(mlir::Operation* op);
void SetOriginalName(mlir::Operation* op, llvm::StringRef name);

}  // namespace kiln
