#include "backends/cpu/passes/narrow_floats.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"
#include "mlir/IR/TypeUtilities.h"

namespace kiln {
namespace {

namespace arith = mlir::arith;
using mlir::Type;
using mlir::Value;

bool IsNarrow(Type type) {
  const Type element = mlir::getElementTypeOrSelf(type);
  return (mlir::isa<mlir::VectorType>(type) || type == element) && (element.isF16() || element.isBF16());
}

Type WithElement(Type type, Type element) {
  auto vector = mlir::dyn_cast<mlir::VectorType>(type);
  return vector ? Type(vector.clone(element)) : element;
}

bool Computes(mlir::Operation* op) {
  if (mlir::isa<arith::ConstantOp, arith::BitcastOp, arith::SelectOp, arith::ExtFOp, arith::TruncFOp>(op))
    return false;
  return mlir::isa<arith::ArithDialect, mlir::math::MathDialect>(op->getDialect()) ||
         mlir::isa<mlir::vector::FMAOp, mlir::vector::ReductionOp, mlir::vector::MultiDimReductionOp,
                   mlir::vector::ContractionOp, mlir::vector::OuterProductOp, mlir::vector::ScanOp>(op);
}

void ComputeInF32(mlir::Operation* op) {
  mlir::ImplicitLocOpBuilder b(op->getLoc(), op);
  const Type f32 = b.getF32Type();
  for (mlir::OpOperand& operand : op->getOpOperands()) {
    const Type type = operand.get().getType();
    if (IsNarrow(type)) operand.set(arith::ExtFOp::create(b, WithElement(type, f32), operand.get()));
  }
  b.setInsertionPointAfter(op);
  for (mlir::OpResult result : op->getResults()) {
    const Type narrow = result.getType();
    if (!IsNarrow(narrow)) continue;
    result.setType(WithElement(narrow, f32));
    auto rounded = arith::TruncFOp::create(b, narrow, result);
    result.replaceAllUsesExcept(rounded, rounded);
  }
}

// Emits conversions between f16 or bf16 and f32 as integer and f32 operations, on a scalar or on vectors of one shape.
class Steps {
 public:
  Steps(mlir::Operation* op, Type shape) : b_(op->getLoc(), op), shape_(shape) {}

  Value FromBf16(Value x) { return AsF32(Shl(Bits16(x), 16)); }

  Value ToBf16(Value x) {
    const Value bits = AsI32(x);
    const Value odd = And(Shr(bits, 16), 1);
    const Value rounded = Shr(Add(Add(bits, Int(0x7fff)), odd), 16);
    const Value quiet = Or(Shr(bits, 16), Int(0x40));
    return From16(Select(IsNan(x), quiet, rounded), b_.getBF16Type());
  }

  // Widens f16 to f32 by integer steps and one product: scaling by 2^112 changes f16's exponent bias to that of f32 and
  // normalizes denormals.
  Value FromF16(Value x) {
    const Value h = Bits16(x);
    const Value magnitude = Shl(And(h, 0x7fff), 13);
    const Value scaled = AsI32(arith::MulFOp::create(b_, AsF32(magnitude), AsF32(Int(0x77800000))));
    const Value special = Compare(arith::CmpIPredicate::uge, magnitude, 0x7c00 << 13);
    const Value nan = Compare(arith::CmpIPredicate::ugt, magnitude, 0x7c00 << 13);
    const Value infinite = Or(magnitude, Select(nan, Int(0x7fc00000), Int(0x7f800000)));
    const Value finite_or_not = Select(special, infinite, scaled);
    return AsF32(Or(finite_or_not, Shl(And(h, 0x8000), 16)));
  }

  // Rounds f32 to f16 by integer steps, to nearest even. Below 2^-14, adding 0.5 lets f32's own rounding produce the
  // denormal. Above, the bits are rounded.
  Value ToF16(Value x) {
    const Value bits = AsI32(x);
    const Value magnitude = And(bits, 0x7fffffff);
    const Value half = Int(0x3f000000);
    const Value denormal = Sub(AsI32(arith::AddFOp::create(b_, AsF32(magnitude), AsF32(half))), half);
    const Value odd = And(Shr(magnitude, 13), 1);
    const Value normal = Shr(Add(Add(magnitude, Int(0xfff - (112 << 23))), odd), 13);
    const Value quiet = Or(And(Shr(magnitude, 13), 0x3ff), Int(0x7e00));
    const Value special = Select(IsNan(x), quiet, Int(0x7c00));
    const Value small = Compare(arith::CmpIPredicate::ult, magnitude, 113 << 23);
    const Value large = Compare(arith::CmpIPredicate::uge, magnitude, (127 + 16) << 23);
    const Value result = Select(large, special, Select(small, denormal, normal));
    return From16(Or(result, And(Shr(bits, 16), 0x8000)), b_.getF16Type());
  }

  Value Convert(Value x, Type element) {
    if (mlir::getElementTypeOrSelf(x.getType()) == element) return x;
    const Type to = WithElement(shape_, element);
    if (mlir::getElementTypeOrSelf(x.getType()).getIntOrFloatBitWidth() < element.getIntOrFloatBitWidth()) {
      return arith::ExtFOp::create(b_, to, x);
    }
    return arith::TruncFOp::create(b_, to, x);
  }
  Type f32() { return b_.getF32Type(); }

 private:
  Type Shaped(Type element) { return WithElement(shape_, element); }
  Value Int(int64_t value) {
    const mlir::Attribute scalar = b_.getI32IntegerAttr(static_cast<int32_t>(value));
    const auto vector = mlir::dyn_cast<mlir::VectorType>(Shaped(b_.getI32Type()));
    if (!vector) return arith::ConstantOp::create(b_, mlir::cast<mlir::TypedAttr>(scalar));
    return arith::ConstantOp::create(b_, mlir::DenseElementsAttr::get(vector, scalar));
  }
  Value Bits16(Value x) {
    const Value bits = arith::BitcastOp::create(b_, Shaped(b_.getI16Type()), x);
    return arith::ExtUIOp::create(b_, Shaped(b_.getI32Type()), bits);
  }
  Value From16(Value bits, Type element) {
    const Value low = arith::TruncIOp::create(b_, Shaped(b_.getI16Type()), bits);
    return arith::BitcastOp::create(b_, Shaped(element), low);
  }
  Value AsF32(Value bits) { return arith::BitcastOp::create(b_, Shaped(f32()), bits); }
  Value AsI32(Value x) { return arith::BitcastOp::create(b_, Shaped(b_.getI32Type()), x); }
  Value Shl(Value x, int n) { return arith::ShLIOp::create(b_, x, Int(n)); }
  Value Shr(Value x, int n) { return arith::ShRUIOp::create(b_, x, Int(n)); }
  Value And(Value x, int64_t mask) { return arith::AndIOp::create(b_, x, Int(mask)); }
  Value Or(Value x, Value y) { return arith::OrIOp::create(b_, x, y); }
  Value Add(Value x, Value y) { return arith::AddIOp::create(b_, x, y); }
  Value Sub(Value x, Value y) { return arith::SubIOp::create(b_, x, y); }
  Value Select(Value c, Value x, Value y) { return arith::SelectOp::create(b_, c, x, y); }
  Value IsNan(Value x) { return arith::CmpFOp::create(b_, arith::CmpFPredicate::UNO, x, x); }
  Value Compare(arith::CmpIPredicate p, Value x, int64_t y) {
    return arith::CmpIOp::create(b_, p, x, Int(y));
  }

  mlir::ImplicitLocOpBuilder b_;
  Type shape_;
};

void ExpandConversion(mlir::Operation* op, bool half) {
  const Value x = op->getOperand(0);
  const Type from = mlir::getElementTypeOrSelf(x.getType());
  const Type to = mlir::getElementTypeOrSelf(op->getResult(0).getType());
  Steps steps(op, x.getType());
  Value wide = x;
  if (from.isBF16()) wide = steps.FromBf16(x);
  if (from.isF16()) wide = half ? steps.Convert(x, steps.f32()) : steps.FromF16(x);
  if (from.isF64()) wide = steps.Convert(x, steps.f32());
  if (to.isBF16()) {
    wide = steps.ToBf16(wide);
  } else if (to.isF16() && !half) {
    wide = steps.ToF16(wide);
  } else {
    wide = steps.Convert(wide, to);
  }
  op->getResult(0).replaceAllUsesWith(wide);
  op->erase();
}

// Rewrites %c = arith.constant 1.0 : bf16   ->   %i = arith.constant 16256 : i16, %c = arith.bitcast %i
void ConstantAsBits(arith::ConstantOp op) {
  mlir::ImplicitLocOpBuilder b(op.getLoc(), op);
  const Type i16 = WithElement(op.getType(), b.getI16Type());
  mlir::TypedAttr bits;
  if (auto scalar = mlir::dyn_cast<mlir::FloatAttr>(op.getValue())) {
    bits = b.getIntegerAttr(i16, scalar.getValue().bitcastToAPInt());
  } else {
    bits = mlir::cast<mlir::DenseElementsAttr>(op.getValue()).bitcast(b.getI16Type());
  }
  const Value value = arith::BitcastOp::create(b, op.getType(), arith::ConstantOp::create(b, bits));
  op.replaceAllUsesWith(value);
  op.erase();
}

}  // namespace

void ExpandNarrowFloats(mlir::ModuleOp module, bool half) {
  const auto touches = [](mlir::Operation* op) {
    return llvm::any_of(op->getOperandTypes(), IsNarrow) || llvm::any_of(op->getResultTypes(), IsNarrow);
  };
  llvm::SmallVector<mlir::Operation*> computing;
  module.walk([&](mlir::Operation* op) {
    if (Computes(op) && touches(op)) computing.push_back(op);
  });
  for (mlir::Operation* op : computing) ComputeInF32(op);

  llvm::SmallVector<mlir::Operation*> conversions;
  module.walk([&](mlir::Operation* op) {
    if (mlir::isa<arith::ExtFOp, arith::TruncFOp>(op) && touches(op)) conversions.push_back(op);
  });
  for (mlir::Operation* op : conversions) ExpandConversion(op, half);

  llvm::SmallVector<arith::ConstantOp> constants;
  module.walk([&](arith::ConstantOp op) {
    if (IsNarrow(op.getType()) && mlir::getElementTypeOrSelf(op.getType()).isBF16()) constants.push_back(op);
  });
  for (arith::ConstantOp op : constants) ConstantAsBits(op);
}

}  // namespace kiln
