#include "backends/import/scalar.h"

#include <limits>

#include "absl/base/casts.h"
#include "absl/strings/str_cat.h"
#include "llvm/ADT/StringMap.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/BuiltinTypes.h"

namespace kiln {
namespace {

using mlir::arith::CmpFPredicate;
using mlir::arith::CmpIPredicate;

// Operations of arith and math that become one operation of Kiln, with the same operands in order and the result's
// type.
constexpr std::pair<llvm::StringLiteral, Op> kTable[] = {
    {"arith.addf", Op::kAdd},
    {"arith.addi", Op::kAdd},
    {"arith.subf", Op::kSub},
    {"arith.subi", Op::kSub},
    {"arith.mulf", Op::kMul},
    {"arith.muli", Op::kMul},
    {"arith.divf", Op::kDiv},
    {"arith.divsi", Op::kDiv},
    {"arith.divui", Op::kDivU},
    {"arith.remf", Op::kRem},
    {"arith.remsi", Op::kRem},
    {"arith.remui", Op::kRemU},
    {"arith.floordivsi", Op::kFloorDiv},
    {"arith.ceildivsi", Op::kCeilDiv},
    {"arith.maximumf", Op::kMax},
    {"arith.minimumf", Op::kMin},
    {"arith.maxnumf", Op::kMaxNum},
    {"arith.minnumf", Op::kMinNum},
    {"arith.maxsi", Op::kMax},
    {"arith.minsi", Op::kMin},
    {"arith.maxui", Op::kMaxU},
    {"arith.minui", Op::kMinU},
    {"arith.andi", Op::kAnd},
    {"arith.ori", Op::kOr},
    {"arith.xori", Op::kXor},
    {"arith.shli", Op::kShl},
    {"arith.shrsi", Op::kShr},
    {"arith.shrui", Op::kShrU},
    {"arith.negf", Op::kNeg},
    {"arith.select", Op::kSelect},
    {"arith.bitcast", Op::kBitcast},
    {"math.absf", Op::kAbs},
    {"math.absi", Op::kAbs},
    {"math.exp", Op::kExp},
    {"math.exp2", Op::kExp2},
    {"math.expm1", Op::kExpm1},
    {"math.log", Op::kLog},
    {"math.log2", Op::kLog2},
    {"math.log10", Op::kLog10},
    {"math.log1p", Op::kLog1p},
    {"math.sqrt", Op::kSqrt},
    {"math.rsqrt", Op::kRsqrt},
    {"math.cbrt", Op::kCbrt},
    {"math.sin", Op::kSin},
    {"math.cos", Op::kCos},
    {"math.tan", Op::kTan},
    {"math.atan", Op::kAtan},
    {"math.tanh", Op::kTanh},
    {"math.erf", Op::kErf},
    {"math.sinh", Op::kSinh},
    {"math.cosh", Op::kCosh},
    {"math.asin", Op::kAsin},
    {"math.acos", Op::kAcos},
    {"math.asinh", Op::kAsinh},
    {"math.acosh", Op::kAcosh},
    {"math.atanh", Op::kAtanh},
    {"math.erfc", Op::kErfc},
    {"math.ctpop", Op::kCtpop},
    {"math.ctlz", Op::kCtlz},
    {"math.cttz", Op::kCttz},
    {"math.floor", Op::kFloor},
    {"math.ceil", Op::kCeil},
    {"math.round", Op::kRound},
    {"math.roundeven", Op::kRoundEven},
    {"math.trunc", Op::kTrunc},
    {"math.powf", Op::kPow},
    {"math.atan2", Op::kAtan2},
    {"math.copysign", Op::kCopysign},
    {"math.fma", Op::kFma},
};

const llvm::StringMap<Op>& Table() {
  static const auto* const table = [] {
    auto* made = new llvm::StringMap<Op>;
    for (const auto& [name, op] : kTable) made->insert({name, op});
    return made;
  }();
  return *table;
}

std::optional<Op> Comparison(CmpFPredicate predicate) {
  switch (predicate) {
    case CmpFPredicate::OEQ:
      return Op::kCmpEq;
    case CmpFPredicate::OGT:
      return Op::kCmpGt;
    case CmpFPredicate::OGE:
      return Op::kCmpGe;
    case CmpFPredicate::OLT:
      return Op::kCmpLt;
    case CmpFPredicate::OLE:
      return Op::kCmpLe;
    case CmpFPredicate::ONE:
      return Op::kCmpNe;
    case CmpFPredicate::ORD:
      return Op::kCmpOrd;
    case CmpFPredicate::UEQ:
      return Op::kCmpUEq;
    case CmpFPredicate::UGT:
      return Op::kCmpUGt;
    case CmpFPredicate::UGE:
      return Op::kCmpUGe;
    case CmpFPredicate::ULT:
      return Op::kCmpULt;
    case CmpFPredicate::ULE:
      return Op::kCmpULe;
    case CmpFPredicate::UNE:
      return Op::kCmpUNe;
    case CmpFPredicate::UNO:
      return Op::kCmpUno;
    default:
      return std::nullopt;
  }
}

Op Comparison(CmpIPredicate predicate) {
  switch (predicate) {
    case CmpIPredicate::eq:
      return Op::kCmpEq;
    case CmpIPredicate::ne:
      return Op::kCmpNe;
    case CmpIPredicate::slt:
      return Op::kCmpLt;
    case CmpIPredicate::sle:
      return Op::kCmpLe;
    case CmpIPredicate::sgt:
      return Op::kCmpGt;
    case CmpIPredicate::sge:
      return Op::kCmpGe;
    case CmpIPredicate::ult:
      return Op::kCmpULt;
    case CmpIPredicate::ule:
      return Op::kCmpULe;
    case CmpIPredicate::ugt:
      return Op::kCmpUGt;
    case CmpIPredicate::uge:
      return Op::kCmpUGe;
  }
  return Op::kCmpEq;
}

constexpr char kExportHint[] = "compute it before the tuned function, or export the model without it";

}  // namespace

std::optional<DType> ToDType(mlir::Type type) {
  if (type.isF64()) return DType::kF64;
  if (type.isF32()) return DType::kF32;
  if (type.isF16()) return DType::kF16;
  if (type.isBF16()) return DType::kBF16;
  if (type.isSignlessInteger(1)) return DType::kI1;
  if (type.isSignlessInteger(8)) return DType::kI8;
  if (type.isSignlessInteger(16)) return DType::kI16;
  if (type.isSignlessInteger(32)) return DType::kI32;
  if (type.isSignlessInteger(64)) return DType::kI64;
  if (type.isIndex()) return DType::kIndex;
  return std::nullopt;
}

std::string Print(mlir::Type type) {
  std::string text;
  llvm::raw_string_ostream(text) << type;
  return text;
}

Id Scalars::Number(DType dtype, double value) {
  return IsFloat(dtype) ? b_.Float(dtype, value) : b_.Integer(dtype, static_cast<int64_t>(value));
}

mlir::FailureOr<Id> Scalars::Constant(mlir::TypedAttr attribute, mlir::Operation* user) {
  const auto dtype = ToDType(attribute.getType());
  if (dtype && llvm::isa<mlir::FloatAttr>(attribute)) {
    return b_.Float(*dtype, llvm::cast<mlir::FloatAttr>(attribute).getValueAsDouble());
  }
  if (dtype && llvm::isa<mlir::IntegerAttr>(attribute)) {
    const llvm::APInt value = llvm::cast<mlir::IntegerAttr>(attribute).getValue();
    return b_.Integer(
        *dtype, *dtype == DType::kI1 ? static_cast<int64_t>(value.getZExtValue()) : value.getSExtValue());
  }
  return Refuse(refusal_, user, absl::StrCat("a constant of type ", Print(attribute.getType())), kTypesHint);
}

mlir::FailureOr<Id> Scalars::Translate(mlir::Value value) {
  const auto found = known_.find(value);
  if (found != known_.end()) return found->second;
  mlir::Operation* op = value.getDefiningOp();
  const bool ours = op && llvm::isa<mlir::arith::ArithDialect, mlir::math::MathDialect>(op->getDialect());
  const mlir::FailureOr<Id> made = ours ? Make(op) : leaf_(value);
  if (mlir::succeeded(made)) known_[value] = *made;
  return made;
}

mlir::FailureOr<Id> Scalars::Make(mlir::Operation* op) {
  if (auto constant = llvm::dyn_cast<mlir::arith::ConstantOp>(op)) return Constant(constant.getValue(), op);
  for (const mlir::Value value : llvm::concat<const mlir::Value>(llvm::to_vector(op->getOperands()),
                                                                 llvm::to_vector(op->getResults()))) {
    if (!ToDType(value.getType())) {
      return Refuse(refusal_, op, absl::StrCat("a value of type ", Print(value.getType())), kTypesHint);
    }
  }
  if (op->getNumResults() != 1) return Refuse(refusal_, op, "it has several results", kExportHint);
  Id args[3] = {kNone, kNone, kNone};
  if (op->getNumOperands() > 3) return Refuse(refusal_, op, "it is not among Kiln's operations", kExportHint);
  for (unsigned i = 0; i < op->getNumOperands(); ++i) {
    const auto arg = Translate(op->getOperand(i));
    if (mlir::failed(arg)) return arg;
    args[i] = *arg;
  }
  const auto [a, b, c] = args;
  const DType dtype = *ToDType(op->getResult(0).getType());
  const DType from = *ToDType(op->getOperand(0).getType());
  const double inf = std::numeric_limits<double>::infinity();
  const llvm::StringRef name = op->getName().getStringRef();

  if (from == DType::kI1) {  // as a signed value, true is -1
    if (name == "arith.maxsi") return b_.Make(Op::kAnd, dtype, a, b);
    if (name == "arith.minsi") return b_.Make(Op::kOr, dtype, a, b);
    if (name == "arith.ceildivsi") return b_.Make(Op::kDiv, dtype, a, b);
  }
  if (name == "arith.ceildivui") {
    const Id zero = Number(dtype, 0), one = Number(dtype, 1);
    const Id quotient = b_.Make(Op::kDivU, dtype, b_.Make(Op::kSub, dtype, a, one), b);
    return b_.Make(Op::kSelect, dtype, b_.Make(Op::kCmpEq, DType::kI1, a, zero), zero, b_.Add(quotient, one));
  }
  const auto row = Table().find(name);
  if (row != Table().end()) return b_.Make(row->second, dtype, a, b, c);
  if (llvm::isa<mlir::arith::CmpFOp, mlir::arith::CmpIOp>(op)) return Compare(op, a, b);
  if (llvm::isa<mlir::math::FPowIOp, mlir::math::IPowIOp>(op)) return Power(op, dtype, a, b);
  if (name == "math.isnan") return b_.Make(Op::kCmpUno, DType::kI1, a, a);
  if (name == "math.isinf")
    return b_.Make(Op::kCmpEq, DType::kI1, b_.Make(Op::kAbs, from, a), Number(from, inf));
  if (name == "math.isfinite")
    return b_.Make(Op::kCmpLt, DType::kI1, b_.Make(Op::kAbs, from, a), Number(from, inf));
  if (name == "math.clampf") return b_.Make(Op::kMin, dtype, b_.Make(Op::kMax, dtype, a, b), c);
  return ConvertNumber(op, from, dtype, a);
}

mlir::FailureOr<Id> Scalars::Compare(mlir::Operation* op, Id a, Id b) {
  if (auto compare = llvm::dyn_cast<mlir::arith::CmpIOp>(op)) {
    const CmpIPredicate p = compare.getPredicate();
    const bool is_signed = p >= CmpIPredicate::slt && p <= CmpIPredicate::sge;
    if (is_signed && compare.getLhs().getType().isInteger(1)) std::swap(a, b);  // true is -1
    return b_.Make(Comparison(p), DType::kI1, a, b);
  }
  const auto predicate = llvm::cast<mlir::arith::CmpFOp>(op).getPredicate();
  if (const auto comparison = Comparison(predicate)) return b_.Make(*comparison, DType::kI1, a, b);
  return b_.Integer(DType::kI1, predicate == CmpFPredicate::AlwaysTrue);
}

// Translates a conversion of a number to another type. An i1 is 0 or 1 in Kiln, but 0 or -1 where arith reads it as
// signed. Floats become unsigned integers of fewer than 64 bits by way of i64. A constant that is truncated to f32 is
// rounded at once.
mlir::FailureOr<Id> Scalars::ConvertNumber(mlir::Operation* op, DType from, DType to, Id a) {
  const Expr& operand = b_.program().exprs[a];
  if (llvm::isa<mlir::arith::TruncFOp>(op) && operand.op == Op::kConstant && to == DType::kF32) {
    return Number(to, static_cast<float>(absl::bit_cast<double>(operand.Number())));
  }
  if (llvm::isa<mlir::arith::ExtFOp, mlir::arith::TruncFOp, mlir::arith::TruncIOp>(op)) return b_.Cast(to, a);
  if (llvm::isa<mlir::arith::ExtSIOp, mlir::arith::SIToFPOp, mlir::arith::IndexCastOp>(op)) {
    if (from == DType::kI1) return b_.Make(Op::kSelect, to, a, Number(to, -1), Number(to, 0));
    return b_.Cast(to, a);
  }
  if (llvm::isa<mlir::arith::ExtUIOp, mlir::arith::UIToFPOp, mlir::arith::IndexCastUIOp>(op)) {
    return b_.Make(Op::kCastUnsigned, to, a);
  }
  if (llvm::isa<mlir::arith::FPToSIOp>(op)) return b_.Cast(to, a);
  if (llvm::isa<mlir::arith::FPToUIOp>(op)) {
    return to == DType::kI64 ? b_.Make(Op::kCastUnsigned, to, a) : b_.Cast(to, b_.Cast(DType::kI64, a));
  }
  return Refuse(refusal_, op, "it is not among Kiln's operations", kExportHint);
}

mlir::FailureOr<Id> Scalars::Power(mlir::Operation* op, DType dtype, Id base, Id exponent) {
  const Expr& e = b_.program().exprs[exponent];
  const bool constant = e.op == Op::kConstant;
  if (IsFloat(dtype) && !constant)
    return Refuse(refusal_, op, "its exponent is not constant", "use math.powf");
  const int64_t n = constant ? e.Number() : 0;
  if (constant && n >= 0 && n <= 4) {
    if (n == 0) return Number(dtype, 1);
    Id product = base;
    for (int64_t i = 1; i < n; ++i) product = b_.Mul(product, base);
    return product;
  }
  if (IsFloat(dtype)) return b_.Make(Op::kPow, dtype, base, Number(dtype, static_cast<double>(n)));
  return IntegerPower(dtype, base, exponent);
}

// Returns an expression for an integer power by repeated squaring: one factor for each bit of the exponent except the
// sign. For negative exponents, 1 and -1 are their own inverses, and inverses of other numbers round to 0. 0 to a
// negative power is undefined in the file, and gives 0.
Id Scalars::IntegerPower(DType dtype, Id base, Id exponent) {
  const Id zero = Number(dtype, 0), one = Number(dtype, 1);
  if (dtype == DType::kI1) return b_.Make(Op::kSelect, dtype, exponent, base, one);
  const auto is = [&](Op op, Id a, Id b) { return b_.Make(op, DType::kI1, a, b); };
  Id power = one, square = base;
  for (int64_t bit = 0; bit + 1 < 8 * SizeOf(dtype); ++bit) {
    const Id mask = b_.Integer(dtype, int64_t{1} << bit);
    const Id set = is(Op::kCmpNe, b_.Make(Op::kAnd, dtype, exponent, mask), zero);
    power = b_.Mul(power, b_.Make(Op::kSelect, dtype, set, square, one));
    square = b_.Mul(square, square);
  }
  const Id unit =
      b_.Make(Op::kOr, DType::kI1, is(Op::kCmpEq, base, one), is(Op::kCmpEq, base, Number(dtype, -1)));
  const Id inverse = b_.Make(Op::kSelect, dtype, unit, power, zero);
  return b_.Make(Op::kSelect, dtype, is(Op::kCmpLt, exponent, zero), inverse, power);
}

}  // namespace kiln
