// Converts scf to cf, and then cf, func, arith, math, memref, vector and ub to the LLVM dialect in one conversion, with
// memrefs as bare pointers.
//
// bf16 becomes i16: after narrow_floats.h it is only loaded, stored and moved, and LLVM 22 loses the sign of
// a copysign whose operand was loaded as bfloat. Patterns and the type converter are created once and kept.
// Operations without a lowering stay in place, and the caller looks for them. Only this source includes most
// of MLIR's conversion headers. One thread.
#pragma once

#include <functional>
#include <memory>

#include "absl/status/status.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/Rewrite/FrozenRewritePatternSet.h"

namespace mlir {
class LLVMTypeConverter;
}

namespace kiln {

class LlvmConverter {
 public:
  explicit LlvmConverter(mlir::MLIRContext& context);
  ~LlvmConverter();
  // Converts the module. Calls `after` with the names of the passes "scf-to-cf" and "convert-to-llvm" when they are
  // done, but not after the last pass, which removes casts.
  mlir::LogicalResult Run(mlir::ModuleOp module, const std::function<void(const char* pass)>& after) const;

 private:
  std::unique_ptr<mlir::LLVMTypeConverter> types_;
  mlir::FrozenRewritePatternSet control_flow_;
  mlir::FrozenRewritePatternSet all_;
};

// Checks that all operations in the module are of LLVM's dialect or of the dialect `also`. kInvalidArgument, with one
// operation that is not.
absl::Status OnlyLlvm(mlir::ModuleOp module, llvm::StringRef also = "");

}  // namespace kiln
