// Builds MLIR arithmetic on scalars or vectors of one shape, with elements of f32, f64, or integers of the same width.
// Each call inserts one operation or several. vector_math.cc writes exp, log and other functions with it.
#pragma once

#include <array>
#include <bit>
#include <cstdint>

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"
#include "mlir/IR/TypeUtilities.h"

namespace kiln {

class Lanes {
 public:
  using Value = mlir::Value;
  using Coefficients = llvm::ArrayRef<double>;  // of x^0, x^1, ...

  // Builds values with the shape of the result of `op`, by operations that are inserted before `op`.
  explicit Lanes(mlir::Operation* op) : b_(op->getLoc(), op), shape_(op->getResult(0).getType()) {}

  // Emit constants with the same number in each lane: F of f32, D of f64, I of i32, I64 of i64, Like of the type of x.
  Value F(double value) { return Constant(b_.getF32FloatAttr(static_cast<float>(value))); }
  Value D(double value) { return Constant(b_.getF64FloatAttr(value)); }
  Value I(int32_t value) { return Constant(b_.getI32IntegerAttr(value)); }
  Value I64(int64_t value) { return Constant(b_.getI64IntegerAttr(value)); }
  Value Like(double value, Value x) { return mlir::getElementTypeOrSelf(x).isF64() ? D(value) : F(value); }

  Value Wide(Value x) { return mlir::arith::ExtFOp::create(b_, Of(b_.getF64Type()), x); }
  Value Narrow(Value x) { return mlir::arith::TruncFOp::create(b_, Of(b_.getF32Type()), x); }
  Value Bits(Value x);
  Value FromBits(Value x);

  // Emit one operation of arithmetic or logic. Add, Sub and Mul may be fused by LLVM, even if the program's own
  // products and sums may not.
  Value Add(Value x, Value y) { return mlir::arith::AddFOp::create(b_, x, y, kContract); }
  Value Sub(Value x, Value y) { return mlir::arith::SubFOp::create(b_, x, y, kContract); }
  Value Mul(Value x, Value y) { return mlir::arith::MulFOp::create(b_, x, y, kContract); }
  Value Div(Value x, Value y) { return mlir::arith::DivFOp::create(b_, x, y); }
  Value Fma(Value x, Value y, Value z) { return mlir::math::FmaOp::create(b_, x, y, z); }
  Value AddI(Value x, Value y) { return mlir::arith::AddIOp::create(b_, x, y); }
  Value SubI(Value x, Value y) { return mlir::arith::SubIOp::create(b_, x, y); }
  Value Or(Value x, Value y) { return mlir::arith::OrIOp::create(b_, x, y); }
  Value And(Value x, Value y) { return mlir::arith::AndIOp::create(b_, x, y); }
  Value ShiftLeft(Value x, int32_t bits) { return mlir::arith::ShLIOp::create(b_, x, I(bits)); }

  Value Select(Value c, Value x, Value y) { return mlir::arith::SelectOp::create(b_, c, x, y); }
  Value Compare(mlir::arith::CmpFPredicate p, Value x, Value y) {
    return mlir::arith::CmpFOp::create(b_, p, x, y);
  }
  Value Less(Value x, Value y) { return Compare(mlir::arith::CmpFPredicate::OLT, x, y); }
  Value Least(Value x, double most);  // min; NaN stays, here and in Clamp
  Value Clamp(Value x, double least, double most);

  // Evaluates the polynomial c[0] + c[1] x + c[2] x^2 + ... by Horner's rule with fused multiply-adds, which takes the
  // fewest operations. The length of its dependence chain does not matter here.
  Value Polynomial(Value x, Coefficients c);
  Value Polynomial(Value x, llvm::ArrayRef<Value> terms);
  // Evaluates the polynomial with the coefficients c as (c0 + c1 x) + x^2 ((c2 + c3 x) + ...), which accumulates fewer
  // rounding errors if x is large. `square` is x^2. The number of coefficients must be even.
  Value InPairs(Value x, Value square, Coefficients c);

  Value Lane(Value x, int64_t lane);

  // Returns table[index % n] for each f32 lane. Emits one permutation of a register for each sixteen lanes (AVX-512).
  template <typename T, size_t n>
  Value Entry(const std::array<T, n>& table, Value index) {
    static_assert(sizeof(T) == sizeof(float) && (n == 16 || n == 32));
    return EntryOf(std::bit_cast<std::array<float, n>>(table), index);
  }

  // Emits a scalar i1 that is true if the condition holds in some lane.
  Value Any(Value condition);
  // Emits a scalar i1 that is true if some lane of the integers x has one of these bits set.
  Value AnySet(Value x, int32_t bits);
  // Emits a vector of i1 that is true in some lane if and only if some lane of x is above `most` (unsigned). The result
  // may have fewer lanes than x.
  Value Above(Value x, int32_t most);

  // Emits a branch on `condition`, which is expected to be false, and returns the value of the taken side.
  Value IfSeldom(Value condition, llvm::function_ref<Value()> yes, llvm::function_ref<Value()> no);

  bool is_vector() const { return mlir::isa<mlir::VectorType>(shape_); }
  int64_t count() const { return mlir::cast<mlir::VectorType>(shape_).getNumElements(); }
  mlir::ImplicitLocOpBuilder& builder() { return b_; }

 protected:
  mlir::ImplicitLocOpBuilder b_;
  mlir::Type shape_;

 private:
  static constexpr auto kContract = mlir::arith::FastMathFlags::contract;

  mlir::Type Of(mlir::Type element) const;
  Value Constant(mlir::TypedAttr scalar);
  Value EntryOf(llvm::ArrayRef<float> table, Value index);
  Value AllOf(Value x, int32_t number);
  Value AtOnce(Value x, llvm::function_ref<Value(Value, Value)> join);
};

}  // namespace kiln
