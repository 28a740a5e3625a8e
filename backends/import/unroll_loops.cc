#include "backends/import/unroll_loops.h"

#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/SCF/Utils/Utils.h"
#include "mlir/Interfaces/LoopLikeInterface.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

namespace kiln {
namespace {

constexpr int64_t kFew = 32, kMostIterations = 128;
constexpr int64_t kMostOperations = 4096;  // of all iterations together
constexpr int64_t kMuchWork = 1 << 14;     // terms of an iteration's reductions

// Returns the number of terms that a linalg.generic of static shape reduces: the product of the extents of all its
// loops. Returns 0 for other operations, and for a linalg.generic without a reduction loop.
int64_t Terms(mlir::Operation* op) {
  auto generic = llvm::dyn_cast<mlir::linalg::GenericOp>(op);
  if (!generic || generic.getNumReductionLoops() == 0 || generic.hasDynamicShape()) return 0;
  int64_t terms = 1;
  for (const int64_t extent : generic.getStaticLoopRanges()) terms *= extent;
  return terms;
}

bool IsWorthUnrolling(mlir::scf::ForOp loop) {
  const auto iterations = loop.getStaticTripCount();
  if (!iterations || iterations->ugt(kMostIterations)) return false;
  int64_t operations = 0, terms = 0;
  for (mlir::Operation& op : loop.getBody()->without_terminator()) {
    if (llvm::isa<mlir::LoopLikeOpInterface>(op) || !mlir::isMemoryEffectFree(&op)) return false;
    ++operations;
    terms += Terms(&op);
  }
  const int64_t count = iterations->getSExtValue();
  return terms >= (count <= kFew ? 1 : kMuchWork) && operations * count <= kMostOperations;
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
