#include "backends/import/decompose.h"

#include "mlir/Conversion/TosaToArith/TosaToArith.h"
#include "mlir/Conversion/TosaToLinalg/TosaToLinalg.h"
#include "mlir/Conversion/TosaToTensor/TosaToTensor.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Linalg/Transforms/Transforms.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Tosa/IR/TosaOps.h"
#include "mlir/IR/AttrTypeSubElements.h"
#include "mlir/IR/PatternMatch.h"
#include "mlir/Pass/PassManager.h"

namespace kiln {

// Extents are not multiplied: a product of large ones wraps to 0.
bool HasNoElements(mlir::Value value) {
  const auto tensor = llvm::dyn_cast<mlir::RankedTensorType>(value.getType());
  return tensor && tensor.hasStaticShape() && llvm::is_contained(tensor.getShape(), 0);
}

namespace {

mlir::Type Signless(mlir::IntegerType type) {
  return mlir::IntegerType::get(type.getContext(), type.getWidth());
}

// The loops of the batch, then those of the source; a gathered dimension has a loop of one iteration or none.
void GatherAsGeneric(mlir::tensor::GatherOp op, mlir::IRRewriter& rewriter) {
  const mlir::RankedTensorType result = op.getResultType(), source = op.getSourceType();
  if (!result.hasStaticShape() || !source.hasStaticShape()) return;
  const int64_t batch = op.getIndicesType().getRank() - 1;
  const bool reduced = result.getRank() < batch + source.getRank();
  const mlir::Location loc = op.getLoc();
  rewriter.setInsertionPoint(op);
  const mlir::Value init =
      mlir::tensor::EmptyOp::create(rewriter, loc, result.getShape(), result.getElementType());
  const auto rank = static_cast<unsigned>(result.getRank());
  const auto body = [&](mlir::OpBuilder& b, mlir::Location at, mlir::ValueRange) {
    llvm::SmallVector<mlir::Value> loops, index;
    for (unsigned d = 0; d < rank; ++d) loops.push_back(mlir::linalg::IndexOp::create(b, at, d));
    int64_t next = batch;
    for (int64_t d = 0; d < source.getRank(); ++d) {
      const auto found = llvm::find(op.getGatherDims(), d);
      if (found == op.getGatherDims().end()) {
        index.push_back(loops[next++]);
        continue;
      }
      llvm::SmallVector<mlir::Value> coordinate(loops.begin(), loops.begin() + batch);
      coordinate.push_back(
          mlir::arith::ConstantIndexOp::create(b, at, std::distance(op.getGatherDims().begin(), found)));
      mlir::Value value = mlir::tensor::ExtractOp::create(b, at, op.getIndices(), coordinate);
      if (!value.getType().isIndex())
        value = mlir::arith::IndexCastOp::create(b, at, b.getIndexType(), value);
      index.push_back(value);
      if (!reduced) ++next;
    }
    const mlir::Value element = mlir::tensor::ExtractOp::create(b, at, op.getSource(), index);
    mlir::linalg::YieldOp::create(b, at, element);
  };
  auto generic = mlir::linalg::GenericOp::create(
      rewriter, loc, mlir::TypeRange{result}, mlir::ValueRange{}, mlir::ValueRange{init},
      llvm::ArrayRef<mlir::AffineMap>{rewriter.getMultiDimIdentityMap(rank)},
      llvm::SmallVector<mlir::utils::IteratorType>(rank, mlir::utils::IteratorType::parallel), body);
  rewriter.replaceOp(op, generic.getResults());
}

// The padding alone, where it is one number.
void PadOfNothing(mlir::tensor::PadOp op, mlir::IRRewriter& rewriter) {
  mlir::Value number = op.getConstantPaddingValue();
  if (!number) return;
  rewriter.setInsertionPoint(op);
  if (mlir::Operation* inside = number.getDefiningOp(); inside && op->isProperAncestor(inside))
    number = rewriter.clone(*inside)->getResult(0);
  rewriter.replaceOpWithNewOp<mlir::tensor::SplatOp>(op, number, op.getResultType());
}

void ConcatOfSome(mlir::tensor::ConcatOp op, mlir::IRRewriter& rewriter) {
  llvm::SmallVector<mlir::Value> inputs;
  for (const mlir::Value input : op.getInputs())
    if (!HasNoElements(input)) inputs.push_back(input);
  if (inputs.size() == op.getInputs().size()) return;
  rewriter.setInsertionPoint(op);
  if (inputs.size() == 1) return rewriter.replaceOp(op, inputs[0]);
  rewriter.replaceOpWithNewOp<mlir::tensor::ConcatOp>(op, op.getResultType(), op.getDim(), inputs);
}

template <typename Body>
void ForEach(mlir::ModuleOp module, Body body) {
  llvm::SmallVector<mlir::Operation*> ops;
  module.walk([&](mlir::Operation* op) { ops.push_back(op); });
  mlir::IRRewriter rewriter(module.getContext());
  for (mlir::Operation* op : ops) body(op, rewriter);
}

}  // namespace

mlir::LogicalResult LowerTosa(mlir::ModuleOp module) {
  const auto found = module.walk([](mlir::Operation* op) {
    return llvm::isa_and_present<mlir::tosa::TosaDialect>(op->getDialect()) ? mlir::WalkResult::interrupt()
                                                                            : mlir::WalkResult::advance();
  });
  if (!found.wasInterrupted()) return mlir::success();
  mlir::PassManager passes(module.getContext());
  mlir::tosa::addTosaToLinalgPasses(passes, {}, {}, std::nullopt);
  mlir::OpPassManager& functions = passes.nest<mlir::func::FuncOp>();
  mlir::TosaToArithPassOptions arith;
  arith.includeApplyRescale = true;
  functions.addPass(mlir::createTosaToArithPass(arith));
  functions.addPass(mlir::createTosaToTensorPass());
  return passes.run(module);
}

void MakeSignless(mlir::ModuleOp module) {
  mlir::AttrTypeReplacer replacer;
  replacer.addReplacement([](mlir::IntegerType type) -> mlir::Type { return Signless(type); });
  replacer.addReplacement([](mlir::DenseIntElementsAttr data) -> mlir::Attribute {
    const auto type = llvm::dyn_cast<mlir::IntegerType>(data.getElementType());
    if (!type || type.isSignless()) return data;
    return mlir::DenseElementsAttr::getFromRawBuffer(data.getType().clone(Signless(type)), data.getRawData());
  });
  replacer.recursivelyReplaceElementsIn(module, /*replaceAttrs=*/true, /*replaceLocs=*/false,
                                        /*replaceTypes=*/true);
  ForEach(module, [](mlir::Operation* op, mlir::IRRewriter& rewriter) {
    const bool casts = llvm::isa<mlir::UnrealizedConversionCastOp, mlir::tensor::BitcastOp>(op);
    if (casts && op->getOperandTypes() == op->getResultTypes()) rewriter.replaceOp(op, op->getOperands());
  });
}

void DecomposeNamed(mlir::ModuleOp module) {
  ForEach(module, [](mlir::Operation* op, mlir::IRRewriter& rewriter) {
    rewriter.setInsertionPoint(op);
    if (auto pack = llvm::dyn_cast<mlir::linalg::PackOp>(op)) {
      (void)mlir::linalg::lowerPack(rewriter, pack);  // what cannot be lowered stays, and is refused
    } else if (auto unpack = llvm::dyn_cast<mlir::linalg::UnPackOp>(op)) {
      (void)mlir::linalg::lowerUnPack(rewriter, unpack);
    } else if (auto gather = llvm::dyn_cast<mlir::tensor::GatherOp>(op)) {
      GatherAsGeneric(gather, rewriter);
    }
  });
}

void DropEmpty(mlir::ModuleOp module) {
  ForEach(module, [](mlir::Operation* op, mlir::IRRewriter& rewriter) {
    rewriter.setInsertionPoint(op);
    auto generic = llvm::dyn_cast<mlir::linalg::GenericOp>(op);
    if (generic && generic.hasPureTensorSemantics() && llvm::is_contained(generic.getStaticLoopRanges(), 0)) {
      rewriter.replaceOp(op, generic.getDpsInits());
    } else if (op->getNumResults() == 1 && HasNoElements(op->getResult(0)) &&
               !llvm::isa<mlir::tensor::EmptyOp>(op) && mlir::isMemoryEffectFree(op)) {
      const auto type = llvm::cast<mlir::RankedTensorType>(op->getResult(0).getType());
      rewriter.replaceOpWithNewOp<mlir::tensor::EmptyOp>(op, type.getShape(), type.getElementType());
    } else if (auto pad = llvm::dyn_cast<mlir::tensor::PadOp>(op); pad && HasNoElements(pad.getSource())) {
      PadOfNothing(pad, rewriter);
    } else if (auto insert = llvm::dyn_cast<mlir::tensor::InsertSliceOp>(op);
               insert && HasNoElements(insert.getSource())) {
      rewriter.replaceOp(op, insert.getDest());
    } else if (auto concat = llvm::dyn_cast<mlir::tensor::ConcatOp>(op)) {
      ConcatOfSome(concat, rewriter);
    }
  });
}

}  // namespace kiln
