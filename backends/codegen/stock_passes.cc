#include "backends/codegen/stock_passes.h"

#include "mlir/Conversion/AffineToStandard/AffineToStandard.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Arith/Transforms/Passes.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Linalg/Passes.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/MemRef/Transforms/Passes.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Transforms/Passes.h"

namespace kiln {

namespace memref = mlir::memref;

void AddLoopPasses(mlir::PassManager& passes) {
  passes.addNestedPass<mlir::func::FuncOp>(mlir::createConvertLinalgToLoopsPass());
  passes.addPass(memref::createExpandStridedMetadataPass());
  passes.addPass(mlir::arith::createArithExpandOpsPass());
  passes.addPass(mlir::createLowerAffinePass());
  passes.addPass(mlir::createCanonicalizerPass());
  passes.addPass(mlir::createCSEPass());
}

void CopiesToLoops(mlir::ModuleOp module) {
  llvm::SmallVector<memref::CopyOp> copies;
  module.walk([&](memref::CopyOp op) { copies.push_back(op); });
  for (memref::CopyOp op : copies) {
    const mlir::Location loc = op.getLoc();
    mlir::OpBuilder b(op);
    const auto type = mlir::cast<mlir::MemRefType>(op.getSource().getType());
    const mlir::Value zero = mlir::arith::ConstantIndexOp::create(b, loc, 0);
    const mlir::Value one = mlir::arith::ConstantIndexOp::create(b, loc, 1);
    llvm::SmallVector<mlir::Value> upper;
    for (int64_t d = 0; d < type.getRank(); ++d) {
      upper.push_back(type.isDynamicDim(static_cast<unsigned>(d))
                          ? mlir::Value(memref::DimOp::create(b, loc, op.getSource(), d))
                          : mlir::Value(mlir::arith::ConstantIndexOp::create(b, loc, type.getDimSize(d))));
    }
    const llvm::SmallVector<mlir::Value> lower(upper.size(), zero), step(upper.size(), one);
    mlir::scf::buildLoopNest(
        b, loc, lower, upper, step, [&](mlir::OpBuilder& body, mlir::Location at, mlir::ValueRange indices) {
          const mlir::Value value = memref::LoadOp::create(body, at, op.getSource(), indices);
          memref::StoreOp::create(body, at, value, op.getTarget(), indices);
        });
    op.erase();
  }
}

}  // namespace kiln
