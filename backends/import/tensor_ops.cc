#include "backends/import/tensor_ops.h"

#include "absl/strings/str_cat.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/IR/Matchers.h"

namespace kiln {
namespace {

constexpr char kStaticHint[] =
    "export with fixed shapes, so that every offset, size and stride is a constant";

// Returns, for a tensor of the shape `wide` whose groups of dimensions are collapsed, the index in each dimension in
// terms of the indices of the collapsed tensor.
std::vector<IndexSum> Expanded(const std::vector<int64_t>& wide, const std::vector<int64_t>& collapsed,
                               llvm::ArrayRef<mlir::ReassociationIndices> groups) {
  const auto extent_of = [&](Source source) { return collapsed[source.id]; };
  std::vector<IndexSum> index(wide.size());
  for (size_t g = 0; g < groups.size(); ++g) {
    int64_t lower = 1;
    for (size_t i = groups[g].size(); i-- > 0;) {
      const int64_t d = groups[g][i];
      IndexSum sum;
      sum.splits.push_back({Source::Iter(static_cast<int32_t>(g)), 1, lower, i == 0 ? 0 : wide[d]});
      index[d] = Simplify(sum, extent_of);
      lower *= wide[d];
    }
  }
  return index;
}

// Returns, for a tensor of the shape `wide` whose groups of dimensions are collapsed, the indices of the collapsed
// tensor in terms of the indices in `wide`.
std::vector<IndexSum> Collapsed(const std::vector<int64_t>& wide,
                                llvm::ArrayRef<mlir::ReassociationIndices> groups) {
  const auto extent_of = [&](Source source) { return wide[source.id]; };
  std::vector<IndexSum> index;
  for (const auto& group : groups) {
    IndexSum sum;
    int64_t stride = 1;
    for (size_t i = group.size(); i-- > 0;) {
      sum = sum + Builder::Iter(static_cast<int>(group[i])) * stride;
      stride *= wide[group[i]];
    }
    index.push_back(Simplify(sum, extent_of));
  }
  return index;
}

class TensorOpTranslator {
 public:
  TensorOpTranslator(mlir::Operation* op, Values& values)
      : op_(op), values_(values), b_(values.builder()), scalars_(values.Outside(op)) {}

  mlir::LogicalResult Run() {
    for (const mlir::Value result : op_->getResults()) {
      std::vector<int64_t> ignored;
      Why why;
      if (!ToDType(result.getType()) && !ShapeOf(result.getType(), &ignored, &why))
        return values_.Refuse(op_, why);
    }
    if (auto op = llvm::dyn_cast<mlir::tensor::ExpandShapeOp>(op_)) {
      return values_.SetView(op.getResult(), op.getSrc(),
                             Collapsed(ShapeOf(op.getResult()), op.getReassociationIndices()), op_);
    }
    if (auto op = llvm::dyn_cast<mlir::tensor::CollapseShapeOp>(op_)) return Collapse(op);
    if (auto op = llvm::dyn_cast<mlir::tensor::CastOp>(op_)) {
      return values_.SetView(op.getDest(), op.getSource(), IdentityOf(ShapeOf(op.getDest()).size()), op_);
    }
    if (auto op = llvm::dyn_cast<mlir::tensor::ExtractSliceOp>(op_)) return ExtractSlice(op);
    if (auto op = llvm::dyn_cast<mlir::tensor::InsertSliceOp>(op_)) return InsertSlice(op);
    if (auto op = llvm::dyn_cast<mlir::tensor::PadOp>(op_)) return Pad(op);
    if (auto op = llvm::dyn_cast<mlir::tensor::ConcatOp>(op_)) return Concat(op);
    if (llvm::isa<mlir::tensor::ExtractOp, mlir::tensor::DimOp>(op_))
      return mlir::success();  // translated where they are used
    if (llvm::isa<mlir::tensor::EmptyOp>(op_)) {
      values_.SetEmpty(op_->getResult(0));
      return mlir::success();
    }
    auto from_elements = llvm::dyn_cast<mlir::tensor::FromElementsOp>(op_);
    if (llvm::isa<mlir::tensor::SplatOp>(op_) || (from_elements && from_elements.getElements().size() == 1)) {
      values_.SetSplat(op_->getResult(0), {}, op_->getOperand(0));
      return mlir::success();
    }
    return values_.Refuse(op_, "it is not among the tensor operations that Kiln imports",
                          "express it as a linalg.generic");
  }

 private:
  mlir::LogicalResult Collapse(mlir::tensor::CollapseShapeOp op) {
    std::vector<int64_t> wide;
    Why why;
    if (!ShapeOf(op.getSrc().getType(), &wide, &why)) return values_.Refuse(op_, why);
    return values_.SetView(op.getResult(), op.getSrc(),
                           Expanded(wide, ShapeOf(op.getResult()), op.getReassociationIndices()), op_);
  }

  static bool IsStatic(mlir::OffsetSizeAndStrideOpInterface op) {
    return !llvm::any_of(op.getStaticOffsets(), mlir::ShapedType::isDynamic) &&
           !llvm::any_of(op.getStaticSizes(), mlir::ShapedType::isDynamic) &&
           !llvm::any_of(op.getStaticStrides(), mlir::ShapedType::isDynamic);
  }

  mlir::LogicalResult ExtractSlice(mlir::tensor::ExtractSliceOp op) {
    if (!IsStatic(op)) return values_.Refuse(op_, "an offset, size or stride that is computed", kStaticHint);
    const llvm::SmallBitVector dropped = op.getDroppedDims();
    std::vector<IndexSum> index;
    int position = 0;
    for (size_t d = 0; d < op.getStaticOffsets().size(); ++d) {
      IndexSum sum = IndexSum::Constant(op.getStaticOffsets()[d]);
      if (!dropped.test(d)) sum = sum + Builder::Iter(position++) * op.getStaticStrides()[d];
      index.push_back(sum);
    }
    return values_.SetView(op.getResult(), op.getSource(), index, op_);
  }

  // Adds a block that computes result[i] = source[(i - offset) / stride] if i is at a place of the inserted slice, and
  // dest[i] otherwise.
  mlir::LogicalResult InsertSlice(mlir::tensor::InsertSliceOp op) {
    if (!IsStatic(op)) return values_.Refuse(op_, "an offset, size or stride that is computed", kStaticHint);
    const std::vector<int64_t> domain = ShapeOf(op.getResult());
    const llvm::SmallBitVector dropped = op.getDroppedDims();
    std::vector<Builder::Bound> bounds;
    std::vector<IndexSum> index;
    for (size_t d = 0; d < domain.size(); ++d) {
      const int64_t size = op.getStaticSizes()[d], offset = op.getStaticOffsets()[d];
      const int64_t stride = size == 1 ? 1 : op.getStaticStrides()[d];
      const Source iter = Source::Iter(static_cast<int32_t>(d));
      if (size != domain[d])
        bounds.push_back({IndexSum::Of(iter) + IndexSum::Constant(-offset), (size - 1) * stride + 1});
      if (stride != 1) bounds.push_back({{-(offset % stride), {IndexSplit{iter, 1, 1, stride}}}, 1});
      if (!dropped.test(d)) index.push_back({-(offset / stride), {IndexSplit{iter, 1, stride, 0}}});
    }
    const auto source = Guarded(op.getSource(), index, domain);
    if (mlir::failed(source)) return mlir::failure();
    const auto dest = bounds.empty()
                          ? source
                          : values_.Read(op.getDest(), IdentityOf(domain.size()), domain, scalars_, op_);
    if (mlir::failed(dest)) return mlir::failure();
    values_.Compute("insert_slice", op.getResult(),
                    bounds.empty() ? *source : b_.Within(bounds, *source, *dest));
    return mlir::success();
  }

  mlir::LogicalResult Pad(mlir::tensor::PadOp op) {
    const mlir::Value padding = op.getConstantPaddingValue();
    if (!padding) return values_.Refuse(op_, "padding that depends on the position", "pad with a constant");
    const auto low = mlir::getConstantIntValues(op.getMixedLowPad());
    const auto high = mlir::getConstantIntValues(op.getMixedHighPad());
    if (!low || !high) return values_.Refuse(op_, "an amount of padding that is computed", kStaticHint);
    const std::vector<int64_t> domain = ShapeOf(op.getResult()), shape = op.getSourceType().getShape().vec();
    std::vector<Builder::Bound> bounds;
    std::vector<IndexSum> index;
    for (size_t d = 0; d < domain.size(); ++d) {
      index.push_back(Builder::Iter(static_cast<int>(d)) + IndexSum::Constant(-(*low)[d]));
      if ((*low)[d] > 0 || (*high)[d] > 0) bounds.push_back({index.back(), shape[d]});
    }
    const auto source = Guarded(op.getSource(), index, domain);
    const auto outside = mlir::failed(source) ? source : scalars_.Translate(padding);
    if (mlir::failed(outside)) return mlir::failure();
    values_.Compute("pad", op.getResult(), bounds.empty() ? *source : b_.Within(bounds, *source, *outside));
    return mlir::success();
  }

  mlir::LogicalResult Concat(mlir::tensor::ConcatOp op) {
    const std::vector<int64_t> domain = ShapeOf(op.getResult());
    const int64_t dim = op.getDim();
    int64_t end = domain[dim];
    // Builds nested selections: element i of the result is read from the first part that contains i, and each part's
    // read is guarded. The start value 0 stands outside of all parts and is never used.
    Id value = scalars_.Number(ElementOf(op.getResult()), 0);
    for (size_t i = op.getInputs().size(); i-- > 0;) {
      const mlir::Value part = op.getInputs()[i];
      const int64_t size = llvm::cast<mlir::RankedTensorType>(part.getType()).getDimSize(dim);
      if (size == 0) continue;
      end -= size;
      std::vector<IndexSum> index = IdentityOf(domain.size());
      index[dim].offset = -end;
      const auto element = Guarded(part, index, domain);
      if (mlir::failed(element)) return mlir::failure();
      value = b_.Within({{index[dim], size}}, *element, value);
    }
    values_.Compute("concat", op.getResult(), value);
    return mlir::success();
  }

  mlir::FailureOr<Id> Guarded(mlir::Value source, const std::vector<IndexSum>& index,
                              const std::vector<int64_t>& domain) {
    return values_.Read(source, index, domain, scalars_, op_, /*guarded=*/true);
  }

  mlir::Operation* op_;
  Values& values_;
  Builder& b_;
  Scalars scalars_;
};

}  // namespace

mlir::LogicalResult TranslateTensorOp(mlir::Operation* op, Values& values) {
  return TensorOpTranslator(op, values).Run();
}

}  // namespace kiln
