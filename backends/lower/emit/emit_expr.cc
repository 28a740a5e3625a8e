// Emits the expressions of block bodies: scalars, or vectors with a lane for each iteration of the vectorized
// loop.
#include <cstring>

#include "backends/lower/emit/emit.h"
#include "lang/base/check.h"
#include "lang/program/start.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/TypeUtilities.h"

namespace kiln {
namespace {

bool IsVector(mlir::Value value) { return mlir::isa<mlir::VectorType>(value.getType()); }
bool IsFloat(mlir::Value value) { return mlir::isa<mlir::FloatType>(mlir::getElementTypeOrSelf(value)); }

}  // namespace

mlir::Value Emitter::Splat(mlir::Attribute scalar, mlir::Type type) {
  const std::vector<int64_t> key{-2, reinterpret_cast<intptr_t>(scalar.getAsOpaquePointer()),
                                 reinterpret_cast<intptr_t>(type.getAsOpaquePointer())};
  return Hoist(0, key, [&]() -> Value {
    if (const auto vector = mlir::dyn_cast<mlir::VectorType>(type)) {
      return mlir::arith::ConstantOp::create(b_, loc_, mlir::DenseElementsAttr::get(vector, scalar));
    }
    return mlir::arith::ConstantOp::create(b_, loc_, mlir::cast<mlir::TypedAttr>(scalar));
  });
}

mlir::Value Emitter::Constant(DType type, int64_t bits) {
  const mlir::Type element = RegisterType(b_, type);
  if (!IsFloat(type))
    return Splat(b_.getIntegerAttr(element, llvm::APInt(element.getIntOrFloatBitWidth(), bits, true, true)),
                 element);
  double value;
  std::memcpy(&value, &bits, sizeof value);
  return Splat(b_.getFloatAttr(element, value), element);
}

mlir::Value Emitter::AsVector(Value value) {
  if (IsVector(value)) return value;
  const auto type = mlir::VectorType::get({context_.lanes()}, value.getType());
  if (auto constant = value.getDefiningOp<mlir::arith::ConstantOp>()) return Splat(constant.getValue(), type);
  return mlir::vector::BroadcastOp::create(b_, loc_, type, value);
}

mlir::Value Emitter::EmitExpr(Id id, Value mask) {
  const auto known = exprs_.find(id);
  if (known != exprs_.end()) return known->second;
  const Expr& e = p_.exprs[id];
  Value result;
  switch (e.op) {
    case Op::kConstant:
      return Constant(e.dtype, e.Number());
    case Op::kIndex: {
      const IndexValue index = Eval(block_->values.at(id));
      const mlir::Type i64 = b_.getI64Type();
      if (index.uniform()) {
        result = mlir::arith::IndexCastOp::create(b_, loc_, i64, Scalar(index));
      } else {
        result = mlir::arith::IndexCastOp::create(b_, loc_, mlir::VectorType::get({context_.lanes()}, i64),
                                                  Vector(index));
      }
      break;
    }
    case Op::kLoad:
      result = Load(e.AsLoad().buffer, block_->addresses.at(id), mask, Value());
      break;
    case Op::kGather:
      result = Gather(id, mask);
      break;
    case Op::kArg:
      KILN_CHECK(false, "an operand of a monoid in the body of a block");
      break;
    case Op::kWithin:
      result = EmitWithin(id, mask);
      break;
    default: {
      Value operands[3];
      for (size_t i = 0; i < e.Operands().size(); ++i) operands[i] = EmitExpr(e.Operands()[i], mask);
      auto& [a, b, c] = operands;
      if (mask && IsVector(mask) && DividesIntegers(e)) {  // lanes without an instance read zeros
        b = mlir::arith::SelectOp::create(b_, loc_, mask, AsVector(b), AsVector(Constant(e.dtype, 1)));
      }
      result = Marked(Apply(e, a, b, c));
      break;
    }
  }
  exprs_.emplace(id, result);
  return result;
}

mlir::Value Emitter::EmitWithin(Id id, Value mask) {
  const Expr& e = p_.exprs[id];
  const auto [marks, inner, otherwise] = e.AsWithin();
  Value uniform, lanes;
  for (const int condition : block_->within.at(id)) {
    const Test test = TestOf(condition);
    if (test.known == false) return EmitExpr(otherwise, mask);
    if (test.known == true) continue;
    uniform = And(And(uniform, test.uniform), test.any);
    lanes = And(lanes, test.mask);
  }
  const auto inside = [&] {
    if (!lanes) return EmitExpr(inner, mask);
    const Value outside = AsVector(EmitExpr(otherwise, mask));
    const Expr& a = p_.exprs[inner];
    const Value narrowed = And(mask, lanes);
    if (a.op == Op::kLoad) {
      const Value loaded = Load(a.AsLoad().buffer, block_->addresses.at(inner), narrowed, outside);
      if (IsVector(loaded) && !mask) return loaded;
      return mlir::arith::SelectOp::create(b_, loc_, lanes, AsVector(loaded), outside).getResult();
    }
    Saved saved = EnterRegion(false);
    const Value value = AsVector(EmitExpr(inner, narrowed));
    LeaveRegion(std::move(saved));
    return mlir::arith::SelectOp::create(b_, loc_, lanes, value, outside).getResult();
  };
  if (!uniform) return inside();

  const mlir::Type element = RegisterType(b_, e.dtype);
  const mlir::Type type =
      context_.lanes() > 0 ? mlir::Type(mlir::VectorType::get({context_.lanes()}, element)) : element;
  auto branch = mlir::scf::IfOp::create(b_, loc_, mlir::TypeRange{type}, uniform, /*addThenBlock=*/true,
                                        /*addElseBlock=*/true);
  mlir::OpBuilder::InsertionGuard guard(b_);
  const auto fill = [&](mlir::Block* block, llvm::function_ref<Value()> value_of) {
    b_.setInsertionPointToEnd(block);
    Saved saved = EnterRegion(false);
    Value value = value_of();
    if (context_.lanes() > 0) value = AsVector(value);
    mlir::scf::YieldOp::create(b_, loc_, value);
    LeaveRegion(std::move(saved));
  };
  fill(branch.thenBlock(), inside);
  fill(branch.elseBlock(), [&] { return EmitExpr(otherwise, mask); });
  return branch.getResult(0);
}

mlir::Value Emitter::EmitCombine(Id id, const Values& left, const Values& right, bool sum) {
  const Expr& e = p_.exprs[id];
  if (e.op == Op::kArg)
    return e.Number() < static_cast<int64_t>(left.size()) ? left[e.Number()]
                                                          : right[e.Number() - left.size()];
  if (e.op == Op::kConstant) return Constant(e.dtype, e.Number());
  Value operands[3];
  for (size_t i = 0; i < e.Operands().size(); ++i)
    operands[i] = EmitCombine(e.Operands()[i], left, right, sum);
  auto& [a, b, c] = operands;
  if (sum && options_.contract && e.op == Op::kAdd && IsFloat(e.dtype)) {
    if (auto product = b.getDefiningOp<mlir::arith::MulFOp>()) {
      return Apply({Op::kFma, e.dtype}, product.getLhs(), product.getRhs(), a);
    }
    if (auto wide = b.getDefiningOp<mlir::vector::BroadcastOp>()) {
      if (auto product = wide.getSource().getDefiningOp<mlir::arith::MulFOp>()) {
        return Apply({Op::kFma, e.dtype}, product.getLhs(), product.getRhs(), a);
      }
    }
  }
  if (!IsFloat(e.dtype) || (e.op != Op::kMax && e.op != Op::kMin)) return Marked(Apply(e, a, b, c));
  // nsz leaves open which zero is greater. The accumulator is the second operand, so its NaN needs no test.
  const Value extreme = Apply(e, b, a, c);
  extreme.getDefiningOp()->setAttr(
      "fastmath", mlir::arith::FastMathFlagsAttr::get(b_.getContext(), mlir::arith::FastMathFlags::nsz));
  return extreme;
}

mlir::Value Emitter::Marked(Value result) {
  mlir::Operation* op = result.getDefiningOp();
  if (fast_ && op != nullptr && mlir::isa<mlir::math::MathDialect>(op->getDialect()) && IsFloat(result))
    op->setAttr("fastmath",
                mlir::arith::FastMathFlagsAttr::get(b_.getContext(), mlir::arith::FastMathFlags::afn));
  return result;
}

mlir::Value Emitter::Contracted(Value result) {
  if (options_.contract && IsFloat(result)) {
    result.getDefiningOp()->setAttr("fastmath", mlir::arith::FastMathFlagsAttr::get(
                                                    b_.getContext(), mlir::arith::FastMathFlags::contract));
  }
  return result;
}

// Combines halves, then halves of halves, as long as vectors remain; then lane by lane.
mlir::Value Emitter::Reduce(const Monoid& monoid, Values& lifts, Value mask) {
  const auto identity = p_.List(monoid.identity), combine = p_.List(monoid.combine);
  for (size_t r = 0; r < lifts.size(); ++r) {
    lifts[r] = AsVector(lifts[r]);
    if (mask) {
      const Value neutral =
          AsVector(Constant(p_.exprs[identity[r]].dtype, NeutralBits(p_, monoid, static_cast<int>(r))));
      lifts[r] = mlir::arith::SelectOp::create(b_, loc_, mask, lifts[r], neutral);
    }
  }
  const auto fold = [&](const Values& left, const Values& right) {
    Values result;
    for (const Id expr : combine) result.push_back(EmitCombine(expr, left, right, false));
    return result;
  };
  int64_t count = context_.lanes();
  for (; count > 2 && count % 2 == 0; count /= 2) {
    Values low, high;
    for (const Value v : lifts) {
      llvm::SmallVector<int64_t> first, second;
      for (int64_t i = 0; i < count / 2; ++i) {
        first.push_back(i);
        second.push_back(i + count / 2);
      }
      low.push_back(mlir::vector::ShuffleOp::create(b_, loc_, v, v, first));
      high.push_back(mlir::vector::ShuffleOp::create(b_, loc_, v, v, second));
    }
    lifts = fold(low, high);
  }
  const auto lane = [&](int64_t i) {
    Values result;
    for (const Value v : lifts)
      result.push_back(mlir::vector::ExtractOp::create(b_, loc_, v, llvm::ArrayRef<int64_t>{i}));
    return result;
  };
  Values total = lane(0);
  for (int64_t i = 1; i < count; ++i) total = fold(total, lane(i));
  lifts = total;
  return lifts[0];
}

}  // namespace kiln
