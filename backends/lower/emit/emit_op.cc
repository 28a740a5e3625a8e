#include "backends/lower/emit/emit_op.h"

#include <type_traits>

#include "backends/lower/emit/emit_types.h"
#include "lang/base/check.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/TypeUtilities.h"

namespace kiln {
namespace {

namespace arith = mlir::arith;
namespace math = mlir::math;

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

mlir::Value Compare(mlir::ImplicitLocOpBuilder& b, Op op, mlir::Value x, mlir::Value y, DType operands) {
  if (IsFloat(operands)) return arith::CmpFOp::create(b, FloatPredicate(op), x, y);
  return arith::CmpIOp::create(b, IntegerPredicate(op, ReadsUnsigned(operands)), x, y);
}

mlir::Value Cast(mlir::ImplicitLocOpBuilder& b, mlir::Value a, DType from, DType to, bool as_unsigned) {
  const mlir::Type type = WithElement(a, RegisterType(b, to));
  if (a.getType() == type) return a;
  const bool from_unsigned = as_unsigned || ReadsUnsigned(from);
  if (IsFloat(from) && IsFloat(to)) {
    const int64_t narrow = SizeOf(from), wide = SizeOf(to);
    if (narrow == wide) {  // between f16 and bf16
      const mlir::Value middle = arith::ExtFOp::create(b, WithElement(a, b.getF32Type()), a);
      return arith::TruncFOp::create(b, type, middle);
    }
    if (narrow < wide) return arith::ExtFOp::create(b, type, a);
    return arith::TruncFOp::create(b, type, a);
  }
  if (IsFloat(from)) {
    if (as_unsigned || ReadsUnsigned(to)) return arith::FPToUIOp::create(b, type, a);
    return arith::FPToSIOp::create(b, type, a);
  }
  if (IsFloat(to)) {
    if (from_unsigned) return arith::UIToFPOp::create(b, type, a);
    return arith::SIToFPOp::create(b, type, a);
  }
  const unsigned before = RegisterType(b, from).getIntOrFloatBitWidth(),
                 after = RegisterType(b, to).getIntOrFloatBitWidth();
  if (after < before) return arith::TruncIOp::create(b, type, a);
  if (from_unsigned) return arith::ExtUIOp::create(b, type, a);
  return arith::ExtSIOp::create(b, type, a);
}

// Lets later passes fuse a sum, difference or product of floats into a multiply-add, if LowerOptions::contract is set.
mlir::Value Contracted(CodeBuilder& code, mlir::Value result) {
  if (code.options().contract && mlir::isa<mlir::FloatType>(mlir::getElementTypeOrSelf(result))) {
    const auto flags =
        mlir::arith::FastMathFlagsAttr::get(code.b().getContext(), mlir::arith::FastMathFlags::contract);
    result.getDefiningOp()->setAttr("fastmath", flags);
  }
  return result;
}

}  // namespace

mlir::Value EmitOperation(CodeBuilder& code, const Expr& e, mlir::Value a, mlir::Value b, mlir::Value c) {
  mlir::ImplicitLocOpBuilder& builder = code.b();
  if (IsVector(a) || IsVector(b) || IsVector(c)) {
    a = code.AsVector(a);
    if (b) b = code.AsVector(b);
    if (c) c = code.AsVector(c);
  }
  // Finds the element type of the operands. For comparisons and casts it differs from the type of the result.
  const DType operands = IsComparison(e.op) || e.op == Op::kCast || e.op == Op::kCastUnsigned
                             ? code.program().exprs[e.operand(0)].dtype
                             : e.dtype;
  if (IsComparison(e.op)) return Compare(builder, e.op, a, b, operands);
  const bool f = IsFloat(e.dtype), u = ReadsUnsigned(e.dtype);
  const auto make = [&]<typename T>(std::type_identity<T>, auto... v) -> mlir::Value {
    return T::create(builder, v...);
  };
  const auto constant = [&](int64_t value) {
    return IsVector(a) ? code.AsVector(code.Constant(e.dtype, value)) : code.Constant(e.dtype, value);
  };
  const auto floor_or_ceil = [&](bool ceil) {
    // Emits an integer division that rounds down or up. The quotient of the division operation rounds to zero. It is
    // off by one if there is a remainder and, for signed types, the signs require it; then it is corrected.
    const auto either = [&]<typename S, typename U>(std::type_identity<S>,
                                                    std::type_identity<U>) -> mlir::Value {
      return u ? U::create(builder, a, b).getResult() : S::create(builder, a, b).getResult();
    };
    const mlir::Value quotient =
                          either(std::type_identity<arith::DivSIOp>(), std::type_identity<arith::DivUIOp>()),
                      remainder =
                          either(std::type_identity<arith::RemSIOp>(), std::type_identity<arith::RemUIOp>());
    mlir::Value off = arith::CmpIOp::create(builder, arith::CmpIPredicate::ne, remainder, constant(0));
    if (!u) {
      const mlir::Value signs = arith::XOrIOp::create(builder, a, b);
      const mlir::Value rounds = arith::CmpIOp::create(
          builder, ceil ? arith::CmpIPredicate::sge : arith::CmpIPredicate::slt, signs, constant(0));
      off = arith::AndIOp::create(builder, off, rounds);
    }
    const mlir::Value moved = arith::AddIOp::create(builder, quotient, constant(ceil ? 1 : -1));
    return arith::SelectOp::create(builder, off, moved, quotient).getResult();
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
      return arith::SelectOp::create(builder, a, b, c);
    case Op::kCast:
      return Cast(builder, a, operands, e.dtype, false);
    case Op::kCastUnsigned:
      return Cast(builder, a, operands, e.dtype, true);
    case Op::kBitcast: {
      const mlir::Type type = WithElement(a, RegisterType(builder, e.dtype));
      return a.getType() == type ? a : arith::BitcastOp::create(builder, type, a).getResult();
    }
    case Op::kAdd:
      return Contracted(code, KILN_EITHER(arith::AddFOp, arith::AddIOp));
    case Op::kSub:
      return Contracted(code, KILN_EITHER(arith::SubFOp, arith::SubIOp));
    case Op::kMul:
      return Contracted(code, KILN_EITHER(arith::MulFOp, arith::MulIOp));
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
      if (!f) return arith::AddIOp::create(builder, arith::MulIOp::create(builder, a, b), c);
      return IsVector(a) ? mlir::vector::FMAOp::create(builder, a, b, c).getResult()
                         : math::FmaOp::create(builder, a, b, c).getResult();
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
      return f ? KILN_UNARY(arith::NegFOp) : arith::SubIOp::create(builder, constant(0), a).getResult();
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
      return arith::XOrIOp::create(builder, a, constant(-1));
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
