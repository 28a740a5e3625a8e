// Emits one operation of an expression: the table from Op to arith, math and vector operations.
#include "backends/lower/emit/emit.h"
#include "lang/base/check.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

namespace kiln {
namespace {

namespace arith = mlir::arith;
namespace math = mlir::math;

mlir::Type WithElement(mlir::Value shape, mlir::Type element) {
  const auto vector = mlir::dyn_cast<mlir::VectorType>(shape.getType());
  return vector ? mlir::Type(mlir::VectorType::get(vector.getShape(), element)) : element;
}

bool ReadsUnsigned(DType type) { return type == DType::kU8 || type == DType::kI1; }

arith::CmpFPredicate FloatPredicate(Op op) {
  switch (op) {
    case Op::kCmpEq:
      return arith::CmpFPredicate::OEQ;
    case Op::kCmpNe:
      return arith::CmpFPredicate::ONE;
    case Op::kCmpLt:
      return arith::CmpFPredicate::OLT;
    case Op::kCmpLe:
      return arith::CmpFPredicate::OLE;
    case Op::kCmpGt:
      return arith::CmpFPredicate::OGT;
    case Op::kCmpGe:
      return arith::CmpFPredicate::OGE;
    case Op::kCmpULt:
      return arith::CmpFPredicate::ULT;
    case Op::kCmpULe:
      return arith::CmpFPredicate::ULE;
    case Op::kCmpUGt:
      return arith::CmpFPredicate::UGT;
    case Op::kCmpUGe:
      return arith::CmpFPredicate::UGE;
    case Op::kCmpUEq:
      return arith::CmpFPredicate::UEQ;
    case Op::kCmpUNe:
      return arith::CmpFPredicate::UNE;
    case Op::kCmpOrd:
      return arith::CmpFPredicate::ORD;
    default:
      return arith::CmpFPredicate::UNO;
  }
}

arith::CmpIPredicate IntegerPredicate(Op op, bool as_unsigned) {
  switch (op) {
    case Op::kCmpEq:
    case Op::kCmpUEq:
      return arith::CmpIPredicate::eq;
    case Op::kCmpNe:
    case Op::kCmpUNe:
      return arith::CmpIPredicate::ne;
    case Op::kCmpLt:
      return as_unsigned ? arith::CmpIPredicate::ult : arith::CmpIPredicate::slt;
    case Op::kCmpLe:
      return as_unsigned ? arith::CmpIPredicate::ule : arith::CmpIPredicate::sle;
    case Op::kCmpGt:
      return as_unsigned ? arith::CmpIPredicate::ugt : arith::CmpIPredicate::sgt;
    case Op::kCmpGe:
      return as_unsigned ? arith::CmpIPredicate::uge : arith::CmpIPredicate::sge;
    case Op::kCmpULt:
      return arith::CmpIPredicate::ult;
    case Op::kCmpULe:
      return arith::CmpIPredicate::ule;
    case Op::kCmpUGt:
      return arith::CmpIPredicate::ugt;
    default:
      return arith::CmpIPredicate::uge;
  }
}

}  // namespace

mlir::Value Emitter::Compare(const Expr& e, Value a, Value b, DType operands) {
  if (IsFloat(operands)) return arith::CmpFOp::create(b_, loc_, FloatPredicate(e.op), a, b);
  return arith::CmpIOp::create(b_, loc_, IntegerPredicate(e.op, ReadsUnsigned(operands)), a, b);
}

mlir::Value Emitter::Cast(Value a, DType from, DType to, bool as_unsigned) {
  const mlir::Type type = WithElement(a, RegisterType(b_, to));
  if (a.getType() == type) return a;
  const bool from_unsigned = as_unsigned || ReadsUnsigned(from);
  if (IsFloat(from) && IsFloat(to)) {
    const int64_t narrow = SizeOf(from), wide = SizeOf(to);
    if (narrow == wide) {  // between f16 and bf16
      const Value middle = arith::ExtFOp::create(b_, loc_, WithElement(a, b_.getF32Type()), a);
      return arith::TruncFOp::create(b_, loc_, type, middle);
    }
    if (narrow < wide) return arith::ExtFOp::create(b_, loc_, type, a);
    return arith::TruncFOp::create(b_, loc_, type, a);
  }
  if (IsFloat(from)) {
    if (as_unsigned || ReadsUnsigned(to)) return arith::FPToUIOp::create(b_, loc_, type, a);
    return arith::FPToSIOp::create(b_, loc_, type, a);
  }
  if (IsFloat(to)) {
    if (from_unsigned) return arith::UIToFPOp::create(b_, loc_, type, a);
    return arith::SIToFPOp::create(b_, loc_, type, a);
  }
  const unsigned before = RegisterType(b_, from).getIntOrFloatBitWidth(),
                 after = RegisterType(b_, to).getIntOrFloatBitWidth();
  if (after < before) return arith::TruncIOp::create(b_, loc_, type, a);
  if (from_unsigned) return arith::ExtUIOp::create(b_, loc_, type, a);
  return arith::ExtSIOp::create(b_, loc_, type, a);
}

mlir::Value Emitter::Apply(const Expr& e, Value a, Value b, Value c) {
  const auto is_vector = [](Value v) { return v && mlir::isa<mlir::VectorType>(v.getType()); };
  if (is_vector(a) || is_vector(b) || is_vector(c)) {
    a = AsVector(a);
    if (b) b = AsVector(b);
    if (c) c = AsVector(c);
  }
  // The type of the operands. For comparisons and casts it differs from the type of the result.
  const DType operands = IsComparison(e.op) || e.op == Op::kCast || e.op == Op::kCastUnsigned
                             ? p_.exprs[e.operand(0)].dtype
                             : e.dtype;
  if (IsComparison(e.op)) return Compare(e, a, b, operands);
  const bool f = IsFloat(e.dtype), u = ReadsUnsigned(e.dtype);
  const auto make = [&]<typename T>(std::type_identity<T>, auto... v) -> Value {
    return T::create(b_, loc_, v...);
  };
  const auto constant = [&](int64_t value) {
    return is_vector(a) ? AsVector(Constant(e.dtype, value)) : Constant(e.dtype, value);
  };
  const auto floor_or_ceil = [&](bool ceil) {
    // The quotient rounds to zero. It is off by one if there is a remainder and, for signed types, the signs
    // require it.
    const auto either = [&]<typename S, typename U>(std::type_identity<S>, std::type_identity<U>) -> Value {
      return u ? U::create(b_, loc_, a, b).getResult() : S::create(b_, loc_, a, b).getResult();
    };
    const Value quotient = either(std::type_identity<arith::DivSIOp>(), std::type_identity<arith::DivUIOp>()),
                remainder =
                    either(std::type_identity<arith::RemSIOp>(), std::type_identity<arith::RemUIOp>());
    Value off = arith::CmpIOp::create(b_, loc_, arith::CmpIPredicate::ne, remainder, constant(0));
    if (!u) {
      const Value signs = arith::XOrIOp::create(b_, loc_, a, b);
      const Value rounds = arith::CmpIOp::create(
          b_, loc_, ceil ? arith::CmpIPredicate::sge : arith::CmpIPredicate::slt, signs, constant(0));
      off = arith::AndIOp::create(b_, loc_, off, rounds);
    }
    const Value moved = arith::AddIOp::create(b_, loc_, quotient, constant(ceil ? 1 : -1));
    return arith::SelectOp::create(b_, loc_, off, moved, quotient).getResult();
  };
#define KILN_EITHER(float_op, integer_op) \
  (f ? make(std::type_identity<float_op>(), a, b) : make(std::type_identity<integer_op>(), a, b))
#define KILN_SIGN(float_op, signed_op, unsigned_op)    \
  (f   ? make(std::type_identity<float_op>(), a, b)    \
   : u ? make(std::type_identity<unsigned_op>(), a, b) \
       : make(std::type_identity<signed_op>(), a, b))
#define KILN_BINARY(op) make(std::type_identity<op>(), a, b)
#define KILN_UNARY(op) make(std::type_identity<op>(), a)
  switch (e.op) {
    case Op::kSelect:
      return arith::SelectOp::create(b_, loc_, a, b, c);
    case Op::kCast:
      return Cast(a, operands, e.dtype, false);
    case Op::kCastUnsigned:
      return Cast(a, operands, e.dtype, true);
    case Op::kBitcast: {
      const mlir::Type type = WithElement(a, RegisterType(b_, e.dtype));
      return a.getType() == type ? a : arith::BitcastOp::create(b_, loc_, type, a).getResult();
    }
    case Op::kAdd:
      return Contracted(KILN_EITHER(arith::AddFOp, arith::AddIOp));
    case Op::kSub:
      return Contracted(KILN_EITHER(arith::SubFOp, arith::SubIOp));
    case Op::kMul:
      return Contracted(KILN_EITHER(arith::MulFOp, arith::MulIOp));
    case Op::kDiv:
      return KILN_SIGN(arith::DivFOp, arith::DivSIOp, arith::DivUIOp);
    case Op::kRem:
      return KILN_SIGN(arith::RemFOp, arith::RemSIOp, arith::RemUIOp);
    case Op::kMax:
      return KILN_SIGN(arith::MaximumFOp, arith::MaxSIOp, arith::MaxUIOp);
    case Op::kMin:
      return KILN_SIGN(arith::MinimumFOp, arith::MinSIOp, arith::MinUIOp);
    case Op::kMaxNum:
      return KILN_SIGN(arith::MaxNumFOp, arith::MaxSIOp, arith::MaxUIOp);
    case Op::kMinNum:
      return KILN_SIGN(arith::MinNumFOp, arith::MinSIOp, arith::MinUIOp);
    case Op::kPow:
      return KILN_EITHER(math::PowFOp, math::IPowIOp);
    case Op::kAtan2:
      return KILN_BINARY(math::Atan2Op);
    case Op::kCopysign:
      return KILN_BINARY(math::CopySignOp);
    case Op::kFma:
      if (!f) return arith::AddIOp::create(b_, loc_, arith::MulIOp::create(b_, loc_, a, b), c);
      return is_vector(a) ? mlir::vector::FMAOp::create(b_, loc_, a, b, c).getResult()
                          : math::FmaOp::create(b_, loc_, a, b, c).getResult();
    case Op::kDivU:
      return KILN_BINARY(arith::DivUIOp);
    case Op::kRemU:
      return KILN_BINARY(arith::RemUIOp);
    case Op::kMaxU:
      return KILN_BINARY(arith::MaxUIOp);
    case Op::kMinU:
      return KILN_BINARY(arith::MinUIOp);
    case Op::kFloorDiv:
      return u ? KILN_BINARY(arith::DivUIOp) : floor_or_ceil(false);
    case Op::kCeilDiv:
      return floor_or_ceil(true);
    case Op::kAnd:
      return KILN_BINARY(arith::AndIOp);
    case Op::kOr:
      return KILN_BINARY(arith::OrIOp);
    case Op::kXor:
      return KILN_BINARY(arith::XOrIOp);
    case Op::kShl:
      return KILN_BINARY(arith::ShLIOp);
    case Op::kShr:
      return u ? KILN_BINARY(arith::ShRUIOp) : KILN_BINARY(arith::ShRSIOp);
    case Op::kShrU:
      return KILN_BINARY(arith::ShRUIOp);
    case Op::kNeg:
      return f ? KILN_UNARY(arith::NegFOp) : arith::SubIOp::create(b_, loc_, constant(0), a).getResult();
    case Op::kAbs:
      return f ? KILN_UNARY(math::AbsFOp) : u ? a : KILN_UNARY(math::AbsIOp);
    case Op::kExp:
      return KILN_UNARY(math::ExpOp);
    case Op::kExp2:
      return KILN_UNARY(math::Exp2Op);
    case Op::kExpm1:
      return KILN_UNARY(math::ExpM1Op);
    case Op::kLog:
      return KILN_UNARY(math::LogOp);
    case Op::kLog2:
      return KILN_UNARY(math::Log2Op);
    case Op::kLog10:
      return KILN_UNARY(math::Log10Op);
    case Op::kLog1p:
      return KILN_UNARY(math::Log1pOp);
    case Op::kSqrt:
      return KILN_UNARY(math::SqrtOp);
    case Op::kRsqrt:
      return KILN_UNARY(math::RsqrtOp);
    case Op::kCbrt:
      return KILN_UNARY(math::CbrtOp);
    case Op::kSin:
      return KILN_UNARY(math::SinOp);
    case Op::kCos:
      return KILN_UNARY(math::CosOp);
    case Op::kTan:
      return KILN_UNARY(math::TanOp);
    case Op::kAtan:
      return KILN_UNARY(math::AtanOp);
    case Op::kTanh:
      return KILN_UNARY(math::TanhOp);
    case Op::kErf:
      return KILN_UNARY(math::ErfOp);
    case Op::kSinh:
      return KILN_UNARY(math::SinhOp);
    case Op::kCosh:
      return KILN_UNARY(math::CoshOp);
    case Op::kAsin:
      return KILN_UNARY(math::AsinOp);
    case Op::kAcos:
      return KILN_UNARY(math::AcosOp);
    case Op::kAsinh:
      return KILN_UNARY(math::AsinhOp);
    case Op::kAcosh:
      return KILN_UNARY(math::AcoshOp);
    case Op::kAtanh:
      return KILN_UNARY(math::AtanhOp);
    case Op::kErfc:
      return KILN_UNARY(math::ErfcOp);
    case Op::kCtpop:
      return KILN_UNARY(math::CtPopOp);
    case Op::kCtlz:
      return KILN_UNARY(math::CountLeadingZerosOp);
    case Op::kCttz:
      return KILN_UNARY(math::CountTrailingZerosOp);
    case Op::kFloor:
      return KILN_UNARY(math::FloorOp);
    case Op::kCeil:
      return KILN_UNARY(math::CeilOp);
    case Op::kRound:
      return KILN_UNARY(math::RoundOp);
    case Op::kRoundEven:
      return KILN_UNARY(math::RoundEvenOp);
    case Op::kTrunc:
      return KILN_UNARY(math::TruncOp);
    case Op::kNot:
      return arith::XOrIOp::create(b_, loc_, a, constant(-1));
    default:
      break;
  }
#undef KILN_EITHER
#undef KILN_SIGN
#undef KILN_BINARY
#undef KILN_UNARY
  KILN_CHECK(false, "no emission of ", ToString(e.op));
  return {};
}

}  // namespace kiln
