#include "backends/import/unroll_loops.h"

#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/SCF/Utils/Utils.h"
#include "mlir/Interfaces/LoopLikeInterface.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

namespace kiln {
namespace {

constexpr int64_t kMostIterations = 32, kMostOperations = 4096;  // of all iterations together

bool IsReduction(mlir::Operation* op) {
  auto generic = llvm::dyn_cast<mlir::linalg::GenericOp>(op);
  return generic && generic.getNumReductionLoops() > 0 && !generic.hasDynamicShape();
}

bool IsWorthUnrolling(mlir::scf::ForOp loop) {
  const auto iterations = loop.getStaticTripCount();
  if (!iterations || iterations->ugt(kMostIterations)) return false;
  int64_t operations = 0;
  bool reduces = false;
  for (mlir::Operation& op : loop.getBody()->without_terminator()) {
    if (llvm::isa<mlir::LoopLikeOpInterface>(op) || !mlir::isMemoryEffectFree(&op)) return false;
    ++operations;
    reduces = reduces || IsReduction(&op);
  }
  return reduces && operations * iterations->getSExtValue() <= kMostOperations;
}

}  // namespace

bool UnrollLoops(mlir::ModuleOp module) {
  llvm::SmallVector<mlir::scf::ForOp> loops;
  module.walk([&](mlir::scf::ForOp loop) {
    if (IsWorthUnrolling(loop)) loops.push_back(loop);
  });
  bool any = false;
  for (mlir::scf::ForOp loop : loops) any = mlir::succeeded(mlir::loopUnrollFull(loop)) || any;
  return any;
}

}  // namespace kiln
