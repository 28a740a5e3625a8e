#include "backends/import/arg_blocks.h"

#include <limits>

#include "absl/strings/str_cat.h"
#include "lang/base/check.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Matchers.h"

namespace kiln {
namespace {

using NaN = ArgReduction::NaN;

constexpr char kOrderHint[] = "compute the index from the loops (linalg.index), or compare indices";

}  // namespace

ArgBlocks::ArgBlocks(mlir::linalg::GenericOp op, Values& values, Scalars& scalars, std::vector<IndexSum> dest,
                     int value, int index)
    : op_(op),
      values_(values),
      b_(values.builder()),
      scalars_(scalars),
      dest_(std::move(dest)),
      value_result_(value),
      index_result_(index),
      value_type_(ElementOf(op->getResult(value))),
      index_type_(ElementOf(op->getResult(index))) {
  for (const int64_t extent : op.getStaticLoopRanges()) extents_.push_back(extent);
}

bool ArgBlocks::IsReduced(size_t loop) const {
  return mlir::linalg::GenericOp(op_).getIteratorTypesArray()[loop] == mlir::utils::IteratorType::reduction;
}

std::optional<ArgBlocks::Affine> ArgBlocks::AffineOf(mlir::Value index) const {
  using namespace mlir::arith;  // NOLINT: the operations of one dialect
  Affine affine{std::vector<int64_t>(extents_.size(), 0)};
  llvm::APInt constant;
  if (mlir::matchPattern(index, mlir::m_ConstantInt(&constant))) {
    affine.offset = constant.getSExtValue();
    return affine;
  }
  mlir::Operation* op = index.getDefiningOp();
  if (auto loop = llvm::dyn_cast_or_null<mlir::linalg::IndexOp>(op)) {
    affine.factors[loop.getDim()] = 1;
    return affine;
  }
  if (llvm::isa_and_present<IndexCastOp, IndexCastUIOp, TruncIOp, ExtSIOp, ExtUIOp>(op))
    return AffineOf(op->getOperand(0));
  if (!llvm::isa_and_present<AddIOp, SubIOp, MulIOp>(op)) return std::nullopt;
  auto left = AffineOf(op->getOperand(0)), right = AffineOf(op->getOperand(1));
  if (!left || !right) return std::nullopt;
  const auto is_constant = [](const Affine& a) {
    return llvm::all_of(a.factors, [](int64_t f) { return f == 0; });
  };
  if (llvm::isa<MulIOp>(op)) {
    if (is_constant(*left)) std::swap(left, right);
    if (!is_constant(*right)) return std::nullopt;
    for (int64_t& factor : left->factors) factor *= right->offset;
    left->offset *= right->offset;
    return left;
  }
  const int64_t sign = llvm::isa<SubIOp>(op) ? -1 : 1;
  for (size_t d = 0; d < extents_.size(); ++d) left->factors[d] += sign * right->factors[d];
  left->offset += sign * right->offset;
  return left;
}

// True if the index is proven to grow from each iteration of the reduced loops to the next one in the file's order, and
// never to be below the index at which the reduction starts.
bool ArgBlocks::Grows(mlir::Value index) const {
  const auto affine = AffineOf(index);
  if (!affine) return false;
  int64_t least = affine->offset, inner = 0;  // inner: how far the inner loops move it
  for (size_t d = extents_.size(); d-- > 0;) {
    const int64_t factor = affine->factors[d], reach = factor * (extents_[d] - 1);
    if (!IsReduced(d)) {
      least += std::min<int64_t>(0, reach);
    } else if (extents_[d] > 1) {
      if (factor <= inner) return false;
      inner += reach;
    }
  }
  const Expr& start = b_.program().exprs[first_index_];
  return start.op == Op::kConstant && start.Number() <= least;
}

bool ArgBlocks::DependsOnLoopsOnly(mlir::Value value) const {
  mlir::Operation* op = value.getDefiningOp();
  if (op == nullptr) return value.getParentBlock() != mlir::linalg::GenericOp(op_).getBlock();
  if (op->getBlock() != mlir::linalg::GenericOp(op_).getBlock() || llvm::isa<mlir::linalg::IndexOp>(op))
    return true;
  return llvm::isa<mlir::arith::ArithDialect>(op->getDialect()) &&
         llvm::all_of(op->getOperands(), [&](mlir::Value operand) { return DependsOnLoopsOnly(operand); });
}

Id ArgBlocks::Worst(int result) const {
  return b_.program().List(b_.program().monoids[monoid_].identity)[result];
}

// Returns an i64 expression for the position of an iteration among those of the reduced loops, in the file's order.
Id ArgBlocks::PositionOf() const {
  IndexSum position = IndexSum::Constant(0);
  int64_t inner = 1;
  for (size_t d = extents_.size(); d-- > 0;) {
    if (!IsReduced(d)) continue;
    position = position + Builder::Iter(static_cast<int>(d)) * inner;
    inner *= extents_[d];
  }
  return b_.Cast(DType::kI64, b_.Index(position));
}

mlir::LogicalResult ArgBlocks::Plan(const ArgReduction& arg) {
  arg_ = arg;
  for (const auto& [result, start] :
       {std::pair{value_result_, &first_value_}, {index_result_, &first_index_}}) {
    const auto read = values_.Read(op_.getDpsInitOperand(result)->get(), dest_, extents_, scalars_, op_);
    if (mlir::failed(read)) return mlir::failure();
    *start = *read;
  }
  const auto value = scalars_.Translate(arg.value);
  if (mlir::failed(value)) return mlir::failure();
  value_ = *value;
  const bool grows = Grows(arg.index);
  direct_ = !arg.by_order || grows;
  if (direct_) {
    const auto index = scalars_.Translate(arg.index);
    if (mlir::failed(index)) return mlir::failure();
    index_ = *index;
  } else if (!DependsOnLoopsOnly(arg.index)) {
    return values_.Refuse(op_, "an argmax that decides ties by an order that its index does not show",
                          kOrderHint);
  }
  const DType type = direct_ ? index_type_ : DType::kI64;
  monoid_ = b_.ArgMonoid(arg.kind, value_type_, type, arg.last, arg.is_unsigned);
  // Leaves out the start of the reduction if it is what an empty reduction gives: the identity of the maximum or
  // minimum as the value, and the index 0. This is done only if NaN wins or cannot occur, and the index grows.
  const Expr start = b_.program().exprs[first_value_], worst = b_.program().exprs[Worst(0)];
  const bool nothing = start.IsConstant(worst.Number()) && arg.nan == NaN::kWins;
  if (direct_ && nothing && grows && b_.program().exprs[first_index_].IsConstant(0)) first_index_ = kNone;
  return mlir::success();
}

std::vector<Builder::IterSpec> ArgBlocks::Iters() const {
  std::vector<Builder::IterSpec> iters = ItersOf(extents_);
  for (size_t d = 0; d < iters.size(); ++d)
    if (IsReduced(d)) iters[d].kind = IterKind::kReduction;
  return iters;
}

// Adds the block that computes only the maximum or minimum, without an index, if the file's function uses this value.
void ArgBlocks::EmitValue(const std::string& name) {
  const mlir::Value result = op_->getResult(value_result_);
  if (result.use_empty()) return;
  const Id buffer = values_.Temporary(name, result);
  const Expr start = b_.program().exprs[first_value_], worst = b_.program().exprs[Worst(0)];
  const bool from_worst = start.IsConstant(worst.Number());
  b_.Reduce(name, Iters(), arg_.kind, {buffer, dest_}, value_, from_worst ? kNone : first_value_);
  values_.SetBuffer(result, buffer);
}

// Returns an expression for the index that the file computes in the iteration at `position` among those of the reduced
// loops, over iters of the other loops.
mlir::FailureOr<Id> ArgBlocks::IndexAt(mlir::Value index, Id position) {
  const auto leaf = [&](mlir::Value value) -> mlir::FailureOr<Id> {
    auto loop = value.getDefiningOp<mlir::linalg::IndexOp>();
    if (!loop) return values_.Leaf(value, op_);
    int64_t inner = 1;
    int place = 0;
    for (size_t d = 0; d < extents_.size(); ++d) {
      if (IsReduced(d) && d > loop.getDim()) inner *= extents_[d];
      if (!IsReduced(d) && d < loop.getDim()) ++place;
    }
    if (!IsReduced(loop.getDim())) return b_.Index(Builder::Iter(place));
    const auto number = [&](int64_t n) { return b_.Integer(DType::kIndex, n); };
    const Id outer = b_.Make(Op::kDiv, DType::kIndex, b_.Cast(DType::kIndex, position), number(inner));
    return b_.Make(Op::kRem, DType::kIndex, outer, number(extents_[loop.getDim()]));
  };
  return Scalars(b_, values_.refusal(), leaf).Translate(index);
}

void ArgBlocks::Emit() {
  const std::string kind = arg_.kind == Monoid::Kind::kMax ? "max" : "min";
  const auto load = [&](Id buffer, const std::vector<IndexSum>& at) { return b_.Load(buffer, at); };
  const auto pick = [&](Id condition, Id value, int worst) {
    return b_.Make(Op::kSelect, b_.program().exprs[value].dtype, condition, value, Worst(worst));
  };
  const mlir::Value value_out = op_->getResult(value_result_), index_out = op_->getResult(index_result_);
  const std::vector<Extent> shape = Extents(ShapeOf(index_out));
  Id value = value_, index = direct_ ? index_ : PositionOf();
  if (arg_.nan == NaN::kSkipped) {
    const Id nan = b_.Make(Op::kCmpUno, DType::kI1, value_, value_);
    const Op number = arg_.kind == Monoid::Kind::kMax ? Op::kMaxNum : Op::kMinNum;
    value = b_.Make(number, value_type_, value_, Worst(0));
    index = b_.Make(Op::kSelect, b_.program().exprs[index].dtype, nan, Worst(1), index);
  } else if (arg_.nan == NaN::kStops) {
    EmitValue(values_.UniqueName(absl::StrCat("reduce_", kind)));
    const std::string name = values_.UniqueName("nan_at");
    const Id nan_at = b_.Temporary(absl::StrCat(name, "_out"), DType::kI64, shape);
    const Id never = b_.Integer(DType::kI64, std::numeric_limits<int64_t>::max());
    const Id nan = b_.Make(Op::kCmpUno, DType::kI1, value_, value_);
    b_.Reduce(name, Iters(), Monoid::Kind::kMin, {nan_at, dest_},
              b_.Make(Op::kSelect, DType::kI64, nan, PositionOf(), never));
    const Id before = b_.Make(Op::kCmpLt, DType::kI1, PositionOf(), load(nan_at, dest_));
    value = pick(before, value_, 0);
    index = pick(before, index, 1);
  }
  const std::string name = values_.UniqueName(absl::StrCat("arg", kind));
  const Id found_value = values_.Temporary(name, value_out);
  const Id found_index = direct_ ? values_.Temporary(name, index_out)
                                 : b_.Temporary(absl::StrCat(name, "_at"), DType::kI64, shape);
  std::vector<Id> first;
  if (first_index_ != kNone) first = {first_value_, direct_ ? first_index_ : b_.Integer(DType::kI64, -1)};
  b_.Reduce(name, Iters(), monoid_, {{found_value, dest_}, {found_index, dest_}}, {value, index}, first);
  if (arg_.nan != NaN::kStops) values_.SetBuffer(value_out, found_value);
  if (direct_) return values_.SetBuffer(index_out, found_index);
  EmitIndex(found_index);
}

// Adds the block that computes the argmax's index, as the file defines it, from the position that was found. A negative
// position gives the initial index.
void ArgBlocks::EmitIndex(Id found) {
  std::vector<int64_t> domain;
  std::vector<int> place(extents_.size(), -1);
  for (size_t d = 0; d < extents_.size(); ++d) {
    if (IsReduced(d)) continue;
    place[d] = static_cast<int>(domain.size());
    domain.push_back(extents_[d]);
  }
  std::vector<IndexSum> dest = dest_;
  for (IndexSum& sum : dest)
    for (IndexSplit& split : sum.splits) split.source.id = place[split.source.id];
  const mlir::Value result = op_->getResult(index_result_);
  const Id position = b_.Load(found, dest);
  Scalars outside = values_.Outside(op_);
  const auto start = values_.Read(op_.getDpsInitOperand(index_result_)->get(), dest, domain, outside, op_);
  const auto index = IndexAt(arg_.index, position);
  KILN_CHECK(mlir::succeeded(start) && mlir::succeeded(index), "an index that Plan translated");
  const Id none = b_.Make(Op::kCmpLt, DType::kI1, position, b_.Integer(DType::kI64, 0));
  const std::string name = values_.UniqueName("position");
  const Id buffer = values_.Temporary(name, result);
  b_.Compute(name, ItersOf(domain), {buffer, dest}, b_.Make(Op::kSelect, index_type_, none, *start, *index));
  values_.SetBuffer(result, buffer);
}

}  // namespace kiln
