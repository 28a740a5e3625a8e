#include "backends/import/decompose.h"

#include "mlir/Conversion/TosaToArith/TosaToArith.h"
#include "mlir/Conversion/TosaToLinalg/TosaToLinalg.h"
#include "mlir/Conversion/TosaToSCF/TosaToSCF.h"
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

// Tests each extent for 0. Multiplies none of them, since a product of large extents could wrap to 0.
bool HasNoElements(mlir::Value value) {
  const auto tensor = llvm::dyn_cast<mlir::RankedTensorType>(value.getType());
  return tensor && tensor.hasStaticShape() && llvm::is_contained(tensor.getShape(), 0);
}

namespace {

mlir::Type Signless(mlir::IntegerType type) {
  return mlir::IntegerType::get(type.getContext(), type.getWidth());
}

// Rewrites tensor.gather as a linalg.generic without operands, which extracts each element. Its loops are those of the
// batch, then those of the source. A gathered dimension has a loop of extent 1 or no loop.
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

// Emits a constant of index type.
mlir::Value Index(mlir::OpBuilder& b, mlir::Location at, int64_t value) {
  return mlir::arith::ConstantIndexOp::create(b, at, value);
}

// Emits a reduction that finds, for each place of the scattered dimensions, the number of the row of the indices that
// names the place, or `none`. It goes through all rows, and the last match wins.
mlir::Value RowOfEachPlace(mlir::tensor::ScatterOp op, mlir::Value none, mlir::IRRewriter& rewriter) {
  using namespace mlir;  // NOLINT: many of its names
  const Location loc = op.getLoc();
  const llvm::ArrayRef<int64_t> dims = op.getScatterDims(),
                                batch = op.getIndicesType().getShape().drop_back();
  const auto count = static_cast<unsigned>(dims.size());
  const auto all = count + static_cast<unsigned>(batch.size());
  const Type i64 = rewriter.getI64Type();
  llvm::SmallVector<int64_t> places;
  for (const int64_t d : dims) places.push_back(op.getDestType().getDimSize(d));
  const Value empty = tensor::EmptyOp::create(rewriter, loc, places, i64);
  const Value start = linalg::FillOp::create(rewriter, loc, none, empty).getResult(0);
  llvm::SmallVector<AffineMap> maps;
  for (unsigned k = 0; k < count; ++k) {
    llvm::SmallVector<AffineExpr> at;
    for (unsigned d = count; d < all; ++d) at.push_back(rewriter.getAffineDimExpr(d));
    at.push_back(rewriter.getAffineConstantExpr(k));
    maps.push_back(AffineMap::get(all, 0, at, rewriter.getContext()));
  }
  maps.push_back(rewriter.getMultiDimIdentityMap(all).getMajorSubMap(count));
  llvm::SmallVector<utils::IteratorType> iterators(all, utils::IteratorType::parallel);
  std::fill(iterators.begin() + count, iterators.end(), utils::IteratorType::reduction);
  return linalg::GenericOp::create(
             rewriter, loc, start.getType(), llvm::SmallVector<Value>(count, op.getIndices()), start, maps,
             iterators,
             [&](OpBuilder& b, Location at, ValueRange args) {
               Value here, row = Index(b, at, 0);
               for (unsigned k = 0; k < count; ++k) {
                 Value coordinate = args[k];
                 if (!coordinate.getType().isIndex())
                   coordinate = arith::IndexCastOp::create(b, at, b.getIndexType(), coordinate);
                 const Value same = arith::CmpIOp::create(b, at, arith::CmpIPredicate::eq, coordinate,
                                                          linalg::IndexOp::create(b, at, k));
                 here = here ? Value(arith::AndIOp::create(b, at, here, same)) : same;
               }
               for (unsigned d = count; d < all; ++d) {
                 row = arith::MulIOp::create(b, at, row, Index(b, at, batch[d - count]));
                 row = arith::AddIOp::create(b, at, row, linalg::IndexOp::create(b, at, d));
               }
               row = arith::IndexCastOp::create(b, at, i64, row);
               row = arith::SelectOp::create(b, at, here, row, none);
               linalg::YieldOp::create(b, at, arith::MaxSIOp::create(b, at, args[count], row).getResult());
             })
      .getResult(0);
}

// Rewrites tensor.scatter as two linalg.generics. One finds the row of the indices that names each place (-1: none).
// The other takes that row's element of the source, or the destination's element if there is no row.
void ScatterAsGenerics(mlir::tensor::ScatterOp op, mlir::IRRewriter& rewriter) {
  using namespace mlir;  // NOLINT: many of its names
  const RankedTensorType dest = op.getDestType(), source = op.getSourceType(), given = op.getIndicesType();
  if (!dest.hasStaticShape() || !source.hasStaticShape() || !given.hasStaticShape()) return;
  const Location loc = op.getLoc();
  rewriter.setInsertionPoint(op);
  if (HasNoElements(op.getSource())) return rewriter.replaceOp(op, op.getDest());
  const llvm::ArrayRef<int64_t> dims = op.getScatterDims(), batch = given.getShape().drop_back();
  const auto rank = static_cast<unsigned>(dest.getRank());
  const bool reduced = source.getRank() < static_cast<int64_t>(batch.size() + rank);
  const Value none = arith::ConstantOp::create(rewriter, loc, rewriter.getI64IntegerAttr(-1));
  const Value rows = RowOfEachPlace(op, none, rewriter);

  llvm::SmallVector<AffineExpr> scattered;
  for (const int64_t d : dims) scattered.push_back(rewriter.getAffineDimExpr(d));
  const AffineMap whole = rewriter.getMultiDimIdentityMap(rank);
  auto result = linalg::GenericOp::create(
      rewriter, loc, dest, ValueRange{op.getDest(), rows},
      tensor::EmptyOp::create(rewriter, loc, dest.getShape(), dest.getElementType()).getResult(),
      llvm::ArrayRef<AffineMap>{whole, AffineMap::get(rank, 0, scattered, rewriter.getContext()), whole},
      llvm::SmallVector<utils::IteratorType>(rank, utils::IteratorType::parallel),
      [&](OpBuilder& b, Location at, ValueRange args) {
        const Value zero = Index(b, at, 0);
        Value row = arith::IndexCastOp::create(b, at, b.getIndexType(), args[1]);
        row = arith::MaxSIOp::create(b, at, row, zero);
        llvm::SmallVector<Value> coordinates(batch.size());
        for (size_t d = batch.size(); d-- > 0;) {
          const Value extent = Index(b, at, batch[d]);
          coordinates[d] = d == 0 ? row : Value(arith::RemUIOp::create(b, at, row, extent));
          row = arith::DivUIOp::create(b, at, row, extent);
        }
        for (unsigned d = 0; d < rank; ++d) {
          const bool is_scattered = llvm::is_contained(dims, d);
          if (!is_scattered) coordinates.push_back(linalg::IndexOp::create(b, at, d));
          if (is_scattered && !reduced) coordinates.push_back(zero);
        }
        const Value element = tensor::ExtractOp::create(b, at, op.getSource(), coordinates);
        const Value found = arith::CmpIOp::create(b, at, arith::CmpIPredicate::ne, args[1], none);
        linalg::YieldOp::create(b, at, arith::SelectOp::create(b, at, found, element, args[0]).getResult());
      });
  rewriter.replaceOp(op, result.getResults());
}

// Replaces tensor.pad of a tensor without elements by a splat of its padding value, if that is one number.
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
  functions.addPass(mlir::createTosaToSCFPass());
  return passes.run(module);
}

void MakeBitcastsScalar(mlir::ModuleOp module) {
  llvm::SmallVector<mlir::tensor::BitcastOp> casts;
  module.walk([&](mlir::tensor::BitcastOp op) { casts.push_back(op); });
  for (mlir::tensor::BitcastOp op : casts) {
    mlir::OpBuilder b(op);
    const mlir::Value made = mlir::arith::BitcastOp::create(b, op.getLoc(), op.getType(), op.getSource());
    op.replaceAllUsesWith(made);
    op.erase();
  }
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
      (void)mlir::linalg::lowerPack(rewriter, pack);  // if it fails, the op is refused later
    } else if (auto unpack = llvm::dyn_cast<mlir::linalg::UnPackOp>(op)) {
      (void)mlir::linalg::lowerUnPack(rewriter, unpack);
    } else if (auto gather = llvm::dyn_cast<mlir::tensor::GatherOp>(op)) {
      GatherAsGeneric(gather, rewriter);
    } else if (auto scatter = llvm::dyn_cast<mlir::tensor::ScatterOp>(op)) {
      ScatterAsGenerics(scatter, rewriter);
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
