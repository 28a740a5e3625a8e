// scf, cf, func, arith, math, memref, vector and ub -> the LLVM dialect, memrefs as bare pointers, in one
// conversion.
//
// bf16 becomes i16: after narrow_floats.h it is only loaded, stored and moved, and LLVM 22 drops the sign of
// a copysign whose operand was loaded as bfloat. Patterns and the type converter are made once and kept. What
// has no lowering is left in place: the caller looks for it. The source that includes most of MLIR's
// conversion headers. One thread.
#pragma once

#include <functional>
#include <memory>

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
  // Calls `after` with the name of each pass but the last.
  mlir::LogicalResult Run(mlir::ModuleOp module, const std::function<void(const char* pass)>& after) const;

 private:
  std::unique_ptr<mlir::LLVMTypeConverter> types_;
  mlir::FrozenRewritePatternSet control_flow_;
  mlir::FrozenRewritePatternSet all_;
};

}  // namespace kiln
