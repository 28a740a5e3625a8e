#include "backends/import/normalize.h"

#include "backends/import/decompose.h"
#include "backends/import/foreign/expand.h"
#include "backends/import/refusal.h"
#include "backends/import/unroll_loops.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Linalg/Passes.h"
#include "mlir/Dialect/Linalg/Transforms/Transforms.h"
#include "mlir/IR/PatternMatch.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Transforms/Passes.h"

namespace kiln {
namespace {

bool IsShapeless(mlir::linalg::LinalgOp op) {
  return llvm::isa<mlir::linalg::GenericOp, mlir::linalg::MapOp, mlir::linalg::ReduceOp,
                   mlir::linalg::ElementwiseOp, mlir::linalg::ContractOp>(op.getOperation());
}

void Generalize(mlir::ModuleOp module) {
  mlir::IRRewriter rewriter(module.getContext());
  llvm::SmallVector<mlir::linalg::AggregatedOpInterface> aggregates;
  module.walk([&](mlir::linalg::AggregatedOpInterface op) { aggregates.push_back(op); });
  for (auto op : aggregates) {
    if (!llvm::isa<mlir::linalg::SoftmaxOp>(op.getOperation())) continue;
    rewriter.setInsertionPoint(op);
    const auto values = op.decomposeOperation(rewriter);
    if (mlir::succeeded(values)) rewriter.replaceOp(op, *values);
  }
  llvm::SmallVector<mlir::linalg::LinalgOp> named;
  module.walk([&](mlir::linalg::LinalgOp op) {
    if (!llvm::isa<mlir::linalg::GenericOp>(op.getOperation())) named.push_back(op);
  });
  for (mlir::linalg::LinalgOp op : named) {
    const std::string name = IsShapeless(op) ? "" : op->getName().stripDialect().str();
    rewriter.setInsertionPoint(op);
    const auto generic = mlir::linalg::generalizeNamedOp(rewriter, op);
    if (mlir::succeeded(generic) && !name.empty()) SetOriginalName(*generic, name);
  }
}

}  // namespace

mlir::LogicalResult Normalize(mlir::ModuleOp module, bool unrolls) {
  if (mlir::failed(LowerTosa(module))) return mlir::failure();
  MakeSignless(module);
  ExpandForeign(module);
  MakeBitcastsScalar(module);
  mlir::PassManager before(module.getContext());
  before.addPass(mlir::createInlinerPass());
  before.addPass(mlir::createSymbolDCEPass());
  before.addPass(mlir::createCanonicalizerPass());
  before.addPass(mlir::createConvertElementwiseToLinalgPass());
  if (mlir::failed(before.run(module))) return mlir::failure();
  DecomposeNamed(module);
  Generalize(module);
  DropEmpty(module);
  mlir::PassManager after(module.getContext());
  after.addPass(mlir::createLinalgInlineScalarOperandsPass());
  after.addPass(mlir::createCanonicalizerPass());
  if (unrolls) after.addPass(mlir::createLoopInvariantCodeMotionPass());
  after.addPass(mlir::createCSEPass());
  if (mlir::failed(after.run(module))) return mlir::failure();
  return unrolls && UnrollLoops(module) ? after.run(module) : mlir::success();
}

}  // namespace kiln
