#include "backends/lower/lift_allocations.h"

#include "backends/cpu/passes/outline_parallel.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"

namespace kiln {

std::vector<int64_t> LiftAllocations(mlir::ModuleOp module, const std::string& function) {
  auto entry = module.lookupSymbol<mlir::func::FuncOp>(function);
  std::vector<mlir::memref::AllocOp> arrays;
  entry.walk([&](mlir::memref::AllocOp array) {
    if (!array->hasAttr(kPerIterationAttribute)) arrays.push_back(array);
  });
  std::vector<int64_t> bytes;
  for (mlir::memref::AllocOp array : arrays) {
    const mlir::MemRefType type = array.getType();
    const mlir::Type element = type.getElementType();
    bytes.push_back(type.getNumElements() *
                    (element.isIndex() ? 8 : (element.getIntOrFloatBitWidth() + 7) / 8));
    const unsigned position = entry.getNumArguments();
    (void)entry.insertArgument(position, type, {}, array.getLoc());
    for (mlir::Operation* user : llvm::make_early_inc_range(array->getUsers())) {
      if (mlir::isa<mlir::memref::DeallocOp>(user)) user->erase();
    }
    array.getResult().replaceAllUsesWith(entry.getArgument(position));
    array.erase();
  }
  return bytes;
}

}  // namespace kiln
