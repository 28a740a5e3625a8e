#include "lang/program/scalar.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>

#include "lang/base/check.h"

namespace kiln {
namespace {

struct Format {
  int mantissa;  // bits of the mantissa that are stored
  int min_exponent, max_exponent;
};
constexpr Format kHalf{10, -14, 15}, kBrain{7, -126, 127};

double RoundTo(const Format& format, double value) {
  if (!std::isfinite(value) || value == 0) return value;
  const int exponent = std::max(std::ilogb(value), format.min_exponent);
  const double ulp = std::ldexp(1.0, exponent - format.mantissa);
  const double rounded = std::nearbyint(value / ulp) * ulp;
  const double limit = std::ldexp(1.0, format.max_exponent + 1);
  return std::abs(rounded) >= limit ? std::copysign(std::numeric_limits<double>::infinity(), value) : rounded;
}

// Returns the 16 bits of a value that the format (f16 or bf16) represents exactly. NaN becomes a quiet NaN with the
// sign.
uint16_t Encode(const Format& format, double value) {
  const int all_ones = format.max_exponent * 2 + 1;
  const uint16_t sign = std::signbit(value) ? 0x8000 : 0;
  if (std::isnan(value))
    return static_cast<uint16_t>(sign | all_ones << format.mantissa | 1 << (format.mantissa - 1));
  if (std::isinf(value)) return static_cast<uint16_t>(sign | all_ones << format.mantissa);
  if (value == 0) return sign;
  const int exponent = std::max(std::ilogb(value), format.min_exponent);
  const int units = static_cast<int>(std::ldexp(std::abs(value), format.mantissa - exponent));
  const bool normal = units >> format.mantissa != 0;
  const int biased = normal ? exponent + format.max_exponent : 0;
  return static_cast<uint16_t>(sign | biased << format.mantissa | (units & ((1 << format.mantissa) - 1)));
}

double Decode(const Format& format, uint16_t bits) {
  const int biased = (bits & 0x7fff) >> format.mantissa, fraction = bits & ((1 << format.mantissa) - 1);
  double value;
  if (biased == format.max_exponent * 2 + 1) {
    value =
        fraction != 0 ? std::numeric_limits<double>::quiet_NaN() : std::numeric_limits<double>::infinity();
  } else if (biased == 0) {
    value = std::ldexp(fraction, format.min_exponent - format.mantissa);
  } else {
    value = std::ldexp(fraction | 1 << format.mantissa, biased - format.max_exponent - format.mantissa);
  }
  return (bits & 0x8000) != 0 ? -value : value;
}

template <typename T>
T Get(const char* element) {
  T value;
  std::memcpy(&value, element, sizeof value);
  return value;
}
template <typename T, typename V>
void Put(V value, char* element) {
  const T narrow = static_cast<T>(value);
  std::memcpy(element, &narrow, sizeof narrow);
}

Scalar F(double value) { return {.f = value}; }
Scalar I(int64_t value) { return {.i = value}; }
uint64_t U(Scalar s) { return static_cast<uint64_t>(s.i); }
Scalar I(uint64_t value) { return {.i = static_cast<int64_t>(value)}; }

double Maximum(double a, double b) {
  if (std::isnan(a) || std::isnan(b)) return std::numeric_limits<double>::quiet_NaN();
  if (a == b) return std::signbit(a) ? b : a;
  return a > b ? a : b;
}
double Minimum(double a, double b) { return -Maximum(-a, -b); }
double MaximumNumber(double a, double b) { return std::isnan(a) ? b : std::isnan(b) ? a : Maximum(a, b); }
double MinimumNumber(double a, double b) { return -MaximumNumber(-a, -b); }

int64_t Divide(int64_t a, int64_t b) {
  return b == 0 ? 0 : b == -1 ? static_cast<int64_t>(-static_cast<uint64_t>(a)) : a / b;
}
int64_t Remainder(int64_t a, int64_t b) { return b == 0 || b == -1 ? 0 : a % b; }
int64_t FloorDivide(int64_t a, int64_t b) {
  return Divide(a, b) - (Remainder(a, b) != 0 && (a < 0) != (b < 0));
}
int64_t CeilDivide(int64_t a, int64_t b) {
  return Divide(a, b) + (Remainder(a, b) != 0 && (a < 0) == (b < 0));
}

int64_t Power(int64_t base, int64_t exponent) {
  if (exponent < 0) return base == 1 ? 1 : base == -1 ? (exponent % 2 != 0 ? -1 : 1) : 0;
  uint64_t result = 1, square = static_cast<uint64_t>(base);
  for (; exponent != 0; exponent >>= 1, square *= square) {
    if ((exponent & 1) != 0) result *= square;
  }
  return static_cast<int64_t>(result);
}

#define KILN_FN(body) \
  [](Scalar a, [[maybe_unused]] Scalar b, [[maybe_unused]] Scalar c) -> Scalar { return body; }

ScalarFunction FloatFunction(Op op, DType type) {
  switch (op) {
    case Op::kSelect:
      return KILN_FN(a.i != 0 ? b : c);
    case Op::kCmpEq:
      return KILN_FN(I(int64_t{a.f == b.f}));
    case Op::kCmpNe:
      return KILN_FN(I(int64_t{a.f < b.f || a.f > b.f}));
    case Op::kCmpLt:
      return KILN_FN(I(int64_t{a.f < b.f}));
    case Op::kCmpLe:
      return KILN_FN(I(int64_t{a.f <= b.f}));
    case Op::kCmpGt:
      return KILN_FN(I(int64_t{a.f > b.f}));
    case Op::kCmpGe:
      return KILN_FN(I(int64_t{a.f >= b.f}));
    case Op::kCmpULt:
      return KILN_FN(I(int64_t{!(a.f >= b.f)}));
    case Op::kCmpULe:
      return KILN_FN(I(int64_t{!(a.f > b.f)}));
    case Op::kCmpUGt:
      return KILN_FN(I(int64_t{!(a.f <= b.f)}));
    case Op::kCmpUGe:
      return KILN_FN(I(int64_t{!(a.f < b.f)}));
    case Op::kCmpUEq:
      return KILN_FN(I(int64_t{!(a.f < b.f || a.f > b.f)}));
    case Op::kCmpUNe:
      return KILN_FN(I(int64_t{!(a.f == b.f)}));
    case Op::kCmpOrd:
      return KILN_FN(I(int64_t{!std::isunordered(a.f, b.f)}));
    case Op::kCmpUno:
      return KILN_FN(I(int64_t{std::isunordered(a.f, b.f)}));
    case Op::kAdd:
      return KILN_FN(F(a.f + b.f));
    case Op::kSub:
      return KILN_FN(F(a.f - b.f));
    case Op::kMul:
      return KILN_FN(F(a.f * b.f));
    case Op::kDiv:
      return KILN_FN(F(a.f / b.f));
    case Op::kRem:
      return KILN_FN(F(std::fmod(a.f, b.f)));
    case Op::kMax:
      return KILN_FN(F(Maximum(a.f, b.f)));
    case Op::kMin:
      return KILN_FN(F(Minimum(a.f, b.f)));
    case Op::kMaxNum:
      return KILN_FN(F(MaximumNumber(a.f, b.f)));
    case Op::kMinNum:
      return KILN_FN(F(MinimumNumber(a.f, b.f)));
    case Op::kPow:
      return KILN_FN(F(std::pow(a.f, b.f)));
    case Op::kAtan2:
      return KILN_FN(F(std::atan2(a.f, b.f)));
    case Op::kCopysign:
      return KILN_FN(F(std::copysign(a.f, b.f)));
    case Op::kFma:
      if (type == DType::kF32) {
        return KILN_FN(
            F(std::fmaf(static_cast<float>(a.f), static_cast<float>(b.f), static_cast<float>(c.f))));
      }
      return KILN_FN(F(std::fma(a.f, b.f, c.f)));
    case Op::kNeg:
      return KILN_FN(F(-a.f));
    case Op::kAbs:
      return KILN_FN(F(std::abs(a.f)));
    case Op::kExp:
      return KILN_FN(F(std::exp(a.f)));
    case Op::kExp2:
      return KILN_FN(F(std::exp2(a.f)));
    case Op::kExpm1:
      return KILN_FN(F(std::expm1(a.f)));
    case Op::kLog:
      return KILN_FN(F(std::log(a.f)));
    case Op::kLog2:
      return KILN_FN(F(std::log2(a.f)));
    case Op::kLog10:
      return KILN_FN(F(std::log10(a.f)));
    case Op::kLog1p:
      return KILN_FN(F(std::log1p(a.f)));
    case Op::kSqrt:
      return KILN_FN(F(std::sqrt(a.f)));
    case Op::kRsqrt:
      return KILN_FN(F(1 / std::sqrt(a.f)));
    case Op::kCbrt:
      return KILN_FN(F(std::cbrt(a.f)));
    case Op::kSin:
      return KILN_FN(F(std::sin(a.f)));
    case Op::kCos:
      return KILN_FN(F(std::cos(a.f)));
    case Op::kTan:
      return KILN_FN(F(std::tan(a.f)));
    case Op::kAtan:
      return KILN_FN(F(std::atan(a.f)));
    case Op::kTanh:
      return KILN_FN(F(std::tanh(a.f)));
    case Op::kErf:
      return KILN_FN(F(std::erf(a.f)));
    case Op::kSinh:
      return KILN_FN(F(std::sinh(a.f)));
    case Op::kCosh:
      return KILN_FN(F(std::cosh(a.f)));
    case Op::kAsin:
      return KILN_FN(F(std::asin(a.f)));
    case Op::kAcos:
      return KILN_FN(F(std::acos(a.f)));
    case Op::kAsinh:
      return KILN_FN(F(std::asinh(a.f)));
    case Op::kAcosh:
      return KILN_FN(F(std::acosh(a.f)));
    case Op::kAtanh:
      return KILN_FN(F(std::atanh(a.f)));
    case Op::kErfc:
      return KILN_FN(F(std::erfc(a.f)));
    case Op::kFloor:
      return KILN_FN(F(std::floor(a.f)));
    case Op::kCeil:
      return KILN_FN(F(std::ceil(a.f)));
    case Op::kRound:
      return KILN_FN(F(std::round(a.f)));
    case Op::kRoundEven:
      return KILN_FN(F(std::nearbyint(a.f)));
    case Op::kTrunc:
      return KILN_FN(F(std::trunc(a.f)));
    default:
      return nullptr;
  }
}

// Returns the function of an unsigned operation, count or shift of kBits bits; nullptr for other operations, kCmpUEq
// and kCmpUNe included. Uses only the lowest kBits bits of the operands, except that kShr shifts the whole value as it
// is held (u8 and i1 zero-extended, others sign-extended).
template <int kBits>
ScalarFunction UnsignedFunction(Op op) {
  static constexpr uint64_t kMask = ~uint64_t{0} >> (64 - kBits);
#define KILN_UFN(body)                                \
  [](Scalar a, Scalar b, Scalar) -> Scalar {          \
    const uint64_t x = U(a) & kMask;                  \
    [[maybe_unused]] const uint64_t y = U(b) & kMask; \
    return body;                                      \
  }
  switch (op) {
    case Op::kCmpULt:
      return KILN_UFN(I(int64_t{x < y}));
    case Op::kCmpULe:
      return KILN_UFN(I(int64_t{x <= y}));
    case Op::kCmpUGt:
      return KILN_UFN(I(int64_t{x > y}));
    case Op::kCmpUGe:
      return KILN_UFN(I(int64_t{x >= y}));
    case Op::kDivU:
      return KILN_UFN(I(y == 0 ? uint64_t{0} : x / y));
    case Op::kRemU:
      return KILN_UFN(I(y == 0 ? uint64_t{0} : x % y));
    case Op::kMaxU:
      return KILN_UFN(I(std::max(x, y)));
    case Op::kMinU:
      return KILN_UFN(I(std::min(x, y)));
    case Op::kCtpop:
      return KILN_UFN(I(int64_t{std::popcount(x)}));
    case Op::kCtlz:
      return KILN_UFN(I(int64_t{std::countl_zero(x) - (64 - kBits)}));
    case Op::kCttz:
      return KILN_UFN(I(int64_t{std::min(std::countr_zero(x), kBits)}));
    case Op::kShl:
      return KILN_UFN(I(y >= kBits ? uint64_t{0} : x << y));
    case Op::kShrU:
      return KILN_UFN(I(y >= kBits ? uint64_t{0} : x >> y));
    case Op::kShr:
      return
          [](Scalar a, Scalar b, Scalar) -> Scalar { return I(a.i >> std::min(U(b) & kMask, uint64_t{63})); };
    default:
      return nullptr;
  }
#undef KILN_UFN
}

ScalarFunction IntegerFunction(Op op, DType type) {
  switch (op) {
    case Op::kSelect:
      return KILN_FN(a.i != 0 ? b : c);
    case Op::kCmpEq:
    case Op::kCmpUEq:
      return KILN_FN(I(int64_t{a.i == b.i}));
    case Op::kCmpNe:
    case Op::kCmpUNe:
      return KILN_FN(I(int64_t{a.i != b.i}));
    case Op::kCmpLt:
      return KILN_FN(I(int64_t{a.i < b.i}));
    case Op::kCmpLe:
      return KILN_FN(I(int64_t{a.i <= b.i}));
    case Op::kCmpGt:
      return KILN_FN(I(int64_t{a.i > b.i}));
    case Op::kCmpGe:
      return KILN_FN(I(int64_t{a.i >= b.i}));
    case Op::kAdd:
      return KILN_FN(I(U(a) + U(b)));
    case Op::kSub:
      return KILN_FN(I(U(a) - U(b)));
    case Op::kMul:
      return KILN_FN(I(U(a) * U(b)));
    case Op::kFma:
      return KILN_FN(I(U(a) * U(b) + U(c)));
    case Op::kDiv:
      return KILN_FN(I(Divide(a.i, b.i)));
    case Op::kRem:
      return KILN_FN(I(Remainder(a.i, b.i)));
    case Op::kFloorDiv:
      return KILN_FN(I(FloorDivide(a.i, b.i)));
    case Op::kCeilDiv:
      return KILN_FN(I(CeilDivide(a.i, b.i)));
    case Op::kMax:
      return KILN_FN(I(std::max(a.i, b.i)));
    case Op::kMin:
      return KILN_FN(I(std::min(a.i, b.i)));
    case Op::kPow:
      return KILN_FN(I(Power(a.i, b.i)));
    case Op::kAnd:
      return KILN_FN(I(a.i & b.i));
    case Op::kOr:
      return KILN_FN(I(a.i | b.i));
    case Op::kXor:
      return KILN_FN(I(a.i ^ b.i));
    case Op::kNot:
      return KILN_FN(I(~a.i));
    case Op::kNeg:
      return KILN_FN(I(-U(a)));
    case Op::kAbs:
      return KILN_FN(I(a.i < 0 ? -U(a) : U(a)));
    default:
      break;
  }
  switch (SizeOf(type)) {
    case 1:
      return type == DType::kI1 ? UnsignedFunction<1>(op) : UnsignedFunction<8>(op);
    case 2:
      return UnsignedFunction<16>(op);
    case 4:
      return UnsignedFunction<32>(op);
    default:
      return UnsignedFunction<64>(op);
  }
}

int64_t Truncated(double value, bool is_unsigned) {
  if (std::isnan(value)) return 0;
  if (is_unsigned) {
    if (value >= 0x1p64) return -1;
    return value < 0 ? 0 : static_cast<int64_t>(static_cast<uint64_t>(value));
  }
  if (value >= 0x1p63) return std::numeric_limits<int64_t>::max();
  return value < -0x1p63 ? std::numeric_limits<int64_t>::min() : static_cast<int64_t>(value);
}

}  // namespace

double RoundFloat(DType type, double value) {
  switch (type) {
    case DType::kF32:
      return static_cast<float>(value);
    case DType::kF16:
      return RoundTo(kHalf, value);
    case DType::kBF16:
      return RoundTo(kBrain, value);
    default:
      return value;
  }
}

int64_t WrapInteger(DType type, int64_t value) {
  switch (type) {
    case DType::kI1:
      return value & 1;
    case DType::kI8:
      return static_cast<int8_t>(value);
    case DType::kU8:
      return static_cast<uint8_t>(value);
    case DType::kI16:
      return static_cast<int16_t>(value);
    case DType::kI32:
      return static_cast<int32_t>(value);
    default:
      return value;
  }
}

Scalar ConstantValue(const Expr& constant) {
  Scalar value{.i = constant.Number()};
  return RoundScalar(constant.dtype, value);
}

Scalar LoadScalar(DType type, const char* element) {
  switch (type) {
    case DType::kF64:
      return F(Get<double>(element));
    case DType::kF32:
      return F(Get<float>(element));
    case DType::kF16:
      return F(Decode(kHalf, Get<uint16_t>(element)));
    case DType::kBF16:
      return F(Decode(kBrain, Get<uint16_t>(element)));
    case DType::kI1:
      return I(int64_t{*element != 0});
    case DType::kI8:
      return I(int64_t{Get<int8_t>(element)});
    case DType::kU8:
      return I(int64_t{Get<uint8_t>(element)});
    case DType::kI16:
      return I(int64_t{Get<int16_t>(element)});
    case DType::kI32:
      return I(int64_t{Get<int32_t>(element)});
    default:
      return I(Get<int64_t>(element));
  }
}

void StoreScalar(DType type, Scalar value, char* element) {
  switch (type) {
    case DType::kF64:
      return Put<double>(value.f, element);
    case DType::kF32:
      return Put<float>(value.f, element);
    case DType::kF16:
      return Put<uint16_t>(Encode(kHalf, value.f), element);
    case DType::kBF16:
      return Put<uint16_t>(Encode(kBrain, value.f), element);
    case DType::kI1:
    case DType::kI8:
    case DType::kU8:
      return Put<uint8_t>(value.i, element);
    case DType::kI16:
      return Put<int16_t>(value.i, element);
    case DType::kI32:
      return Put<int32_t>(value.i, element);
    default:
      return Put<int64_t>(value.i, element);
  }
}

bool HasFunction(Op op, DType type) {
  return (IsFloat(type) ? FloatFunction(op, type) : IntegerFunction(op, type)) != nullptr;
}

ScalarFunction FunctionOf(Op op, DType operand_type) {
  const ScalarFunction function =
      IsFloat(operand_type) ? FloatFunction(op, operand_type) : IntegerFunction(op, operand_type);
  KILN_CHECK(function != nullptr, ToString(op), " of ", ToString(operand_type));
  return function;
}

Scalar CastScalar(Op op, DType from, DType to, Scalar value) {
  if (op == Op::kBitcast) {
    char bytes[8] = {};
    StoreScalar(from, value, bytes);
    return LoadScalar(to, bytes);
  }
  const bool is_unsigned = op == Op::kCastUnsigned;
  if (IsFloat(from)) {
    if (IsFloat(to)) return F(RoundFloat(to, value.f));
    return I(WrapInteger(to, Truncated(value.f, is_unsigned)));
  }
  if (is_unsigned) {
    const int64_t bits = SizeOf(from) * 8;
    if (bits < 64) value.i &= (int64_t{1} << bits) - 1;
  }
  if (!IsFloat(to)) return I(WrapInteger(to, value.i));
  // Converts directly to f32. A conversion by way of f64 would round twice.
  if (to == DType::kF32) return F(is_unsigned ? static_cast<float>(U(value)) : static_cast<float>(value.i));
  return F(RoundFloat(to, is_unsigned ? static_cast<double>(U(value)) : static_cast<double>(value.i)));
}

}  // namespace kiln
