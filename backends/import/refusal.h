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

// The place in a file that a location leads to, through inlining, fusing and naming; "FILE:LINE:COL" or "unknown location".
std::string Where(mlir::Location location);

// "FILE:LINE:COL: OP is not supported (REASON)\n  hint: HINT"
std::string ToString(const Refusal& refusal);

// The name that normalization left in an operation's location: that of the named operation it was made from; or empty.
std::string OriginalName(mlir::Operation* op);
void SetOriginalName(mlir::Operation* op, llvm::StringRef name);

}  // namespace kiln
