#include "backends/cpu/passes/lanes.h"

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/UB/IR/UBOps.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

namespace kiln {

namespace arith = mlir::arith;
namespace vector = mlir::vector;
using mlir::Value;

namespace {

constexpr int64_t kRegister = 16;  // f32 lanes of the widest register of any machine

Value Part(mlir::OpBuilder& b, mlir::Location loc, Value x, int64_t from, int64_t count) {
  return vector::ExtractStridedSliceOp::create(b, loc, x, llvm::ArrayRef<int64_t>{from},
                                               llvm::ArrayRef<int64_t>{count}, llvm::ArrayRef<int64_t>{1});
}

int64_t CountOf(Value x) { return mlir::cast<mlir::VectorType>(x.getType()).getNumElements(); }

}  // namespace

mlir::Type Lanes::Of(mlir::Type element) const {
  auto vector = mlir::dyn_cast<mlir::VectorType>(shape_);
  return vector ? mlir::Type(vector.clone(element)) : element;
}

Value Lanes::Constant(mlir::TypedAttr scalar) {
  auto vector = mlir::dyn_cast<mlir::VectorType>(Of(scalar.getType()));
  if (!vector) return arith::ConstantOp::create(b_, scalar);
  return arith::ConstantOp::create(b_, mlir::DenseElementsAttr::get(vector, mlir::Attribute(scalar)));
}

Value Lanes::Bits(Value x) {
  const bool wide = mlir::getElementTypeOrSelf(x).isF64();
  return arith::BitcastOp::create(b_, Of(wide ? b_.getI64Type() : b_.getI32Type()), x);
}

Value Lanes::FromBits(Value x) {
  const bool wide = mlir::getElementTypeOrSelf(x).isInteger(64);
  return arith::BitcastOp::create(b_, Of(wide ? b_.getF64Type() : b_.getF32Type()), x);
}

Value Lanes::Least(Value x, double most) {
  const Value high = Like(most, x);
  return Select(Less(high, x), high, x);
}

Value Lanes::Clamp(Value x, double least, double most) {
  const Value low = Like(least, x);
  return Least(Select(Less(x, low), low, x), most);
}

Value Lanes::Polynomial(Value x, Coefficients c) {
  llvm::SmallVector<Value> terms;
  for (const double a : c) terms.push_back(Like(a, x));
  return Polynomial(x, terms);
}

Value Lanes::Polynomial(Value x, llvm::ArrayRef<Value> terms) {
  Value sum = terms.back();
  for (const Value term : llvm::reverse(terms.drop_back())) sum = Fma(sum, x, term);
  return sum;
}

Value Lanes::InPairs(Value x, Value square, Coefficients c) {
  Value sum;
  for (size_t t = c.size(); t >= 2; t -= 2) {
    const Value pair = Fma(Like(c[t - 1], x), x, Like(c[t - 2], x));
    sum = sum ? Fma(sum, square, pair) : pair;
  }
  return sum;
}

Value Lanes::Lane(Value x, int64_t lane) {
  return vector::ExtractOp::create(b_, x, llvm::ArrayRef<int64_t>{lane});
}

Value Lanes::EntryOf(llvm::ArrayRef<float> table, Value index) {
  const auto sixteen = mlir::VectorType::get(kRegister, b_.getF32Type());
  const auto values = [&](size_t first) -> Value {
    return arith::ConstantOp::create(b_,
                                     mlir::DenseElementsAttr::get(sixteen, table.slice(first, kRegister)));
  };
  const bool two = table.size() > kRegister;
  const int64_t lanes = count();
  Value result = mlir::ub::PoisonOp::create(b_, shape_);
  for (int64_t at = 0; at < lanes; at += kRegister) {
    const int64_t count = std::min(kRegister, lanes - at);
    llvm::SmallVector<int64_t> chosen;  // repeats the last few lanes if fewer than sixteen remain
    for (int64_t lane = 0; lane < kRegister; ++lane) chosen.push_back(at + lane % count);
    llvm::SmallVector<Value> operands = {values(0), vector::ShuffleOp::create(b_, index, index, chosen)};
    if (two) operands.push_back(values(kRegister));
    const llvm::StringRef name = two ? "llvm.x86.avx512.vpermi2var.ps.512" : "llvm.x86.avx512.permvar.sf.512";
    const Value found =
        mlir::LLVM::CallIntrinsicOp::create(b_, sixteen, b_.getStringAttr(name), operands).getResult(0);
    result = vector::InsertStridedSliceOp::create(b_, Part(b_, b_.getLoc(), found, 0, count), result,
                                                  llvm::ArrayRef<int64_t>{at}, llvm::ArrayRef<int64_t>{1});
  }
  return result;
}

Value Lanes::Any(Value condition) {
  return vector::ReductionOp::create(b_, vector::CombiningKind::OR, condition);
}

// Joins the two halves of the vector by `join`, and again, until at most 16 lanes, or an odd number of lanes, remain.
// Then one comparison suffices.
Value Lanes::AtOnce(Value x, llvm::function_ref<Value(Value, Value)> join) {
  while (CountOf(x) > kRegister && CountOf(x) % 2 == 0) {
    const int64_t half = CountOf(x) / 2;
    x = join(Part(b_, b_.getLoc(), x, 0, half), Part(b_, b_.getLoc(), x, half, half));
  }
  return x;
}

Value Lanes::AllOf(Value x, int32_t number) {
  return arith::ConstantOp::create(
      b_, mlir::DenseElementsAttr::get(mlir::cast<mlir::VectorType>(x.getType()),
                                       mlir::Attribute(b_.getI32IntegerAttr(number))));
}

Value Lanes::AnySet(Value x, int32_t bits) {
  x = AtOnce(x, [&](Value a, Value b) { return Or(a, b); });
  return Any(arith::CmpIOp::create(b_, arith::CmpIPredicate::ne, And(x, AllOf(x, bits)), AllOf(x, 0)));
}

Value Lanes::Above(Value x, int32_t most) {
  x = AtOnce(x, [&](Value a, Value b) -> Value { return arith::MaxUIOp::create(b_, a, b); });
  return arith::CmpIOp::create(b_, arith::CmpIPredicate::ugt, x, AllOf(x, most));
}

Value Lanes::IfSeldom(Value condition, llvm::function_ref<Value()> yes, llvm::function_ref<Value()> no) {
  const Value expected = arith::ConstantOp::create(b_, b_.getBoolAttr(false));
  const Value seldom = mlir::LLVM::ExpectOp::create(b_, condition, expected);
  auto branch = mlir::scf::IfOp::create(b_, mlir::TypeRange{shape_}, seldom, true, true);
  const mlir::OpBuilder::InsertionGuard guard(b_);
  b_.setInsertionPointToEnd(branch.thenBlock());
  mlir::scf::YieldOp::create(b_, yes());
  b_.setInsertionPointToEnd(branch.elseBlock());
  mlir::scf::YieldOp::create(b_, no());
  return branch.getResult(0);
}

}  // namespace kiln
