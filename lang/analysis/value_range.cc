#include "lang/analysis/value_range.h"

#include <bit>
#include <initializer_list>

#include "lang/program/scalar.h"

namespace kiln {
namespace {

__extension__ using Wide = __int128;

bool IsShift(Op op) { return op == Op::kShl || op == Op::kShr || op == Op::kShrU; }

constexpr ValueRange kTruth = {0, 1, true, false};

int64_t Saturated(Wide value) {
  return static_cast<int64_t>(std::clamp<Wide>(value, Wide{ValueRange::kMin}, Wide{ValueRange::kMax}));
}

// The ends of a result's interval before they are wrapped or rounded to its type.
struct Ends {
  Wide min = 0, max = 0;
};

Ends EndsOf(std::initializer_list<Wide> values) { return {std::min(values), std::max(values)}; }

// Returns the largest magnitude up to which a float type represents every integer exactly.
Wide ExactUpTo(DType type) {
  switch (type) {
    case DType::kF64:
      return Wide{1} << 53;
    case DType::kF32:
      return Wide{1} << 24;
    case DType::kF16:
      return Wide{1} << 11;
    default:
      return Wide{1} << 8;
  }
}

// Converts an interval to the type. An integer interval that may wrap becomes all values; an end of a float
// interval beyond the exact integers becomes infinite.
ValueRange InType(DType type, Ends ends, bool zero = true, bool minus_one = true) {
  const ValueRange full = FullRange(type);
  if (IsFloat(type)) {
    const Wide limit = ExactUpTo(type);
    const ValueRange range = {ends.min < -limit ? ValueRange::kMin : Saturated(ends.min),
                              ends.max > limit ? ValueRange::kMax : Saturated(ends.max), zero, minus_one};
    return range.Normal();
  }
  if (ends.min < full.min || ends.max > full.max) return full;
  return ValueRange{static_cast<int64_t>(ends.min), static_cast<int64_t>(ends.max), zero, minus_one}.Normal();
}

Ends Products(const ValueRange& a, const ValueRange& b) {
  return EndsOf({Wide{a.min} * b.min, Wide{a.min} * b.max, Wide{a.max} * b.min, Wide{a.max} * b.max});
}

int64_t Magnitude(const ValueRange& a) {
  return std::max(a.max, a.min == ValueRange::kMin ? ValueRange::kMax : -a.min);
}

// Returns the range of quotients; 0 if 0 is the only divisor. The extremes occur at the ends of the dividend and at the
// divisor's ends and -1, 1.
Ends Quotients(const ValueRange& a, const ValueRange& b) {
  Ends ends;
  bool any = false;
  for (const int64_t divisor : {b.min, b.max, int64_t{-1}, int64_t{1}}) {
    if (divisor == 0 || divisor < b.min || divisor > b.max) continue;
    for (const int64_t dividend : {a.min, a.max}) {
      const Wide quotient = Wide{dividend} / divisor;
      ends =
          any ? Ends{std::min(ends.min, quotient), std::max(ends.max, quotient)} : Ends{quotient, quotient};
      any = true;
    }
  }
  return ends;
}

Ends Remainders(const ValueRange& a, const ValueRange& b) {
  const Wide most = std::min<Wide>(std::max<Wide>(Wide{Magnitude(b)} - 1, 0), Magnitude(a));
  return {a.min < 0 ? -most : 0, a.max > 0 ? most : 0};
}

// Returns the largest value that a | b or a ^ b can have: ones from bit 0 up to the highest bit set in a or b. Both are
// at least 0.
int64_t AllBits(int64_t a, int64_t b) {
  const int bits = 64 - std::countl_zero(static_cast<uint64_t>(a | b));
  return bits == 0 ? 0 : static_cast<int64_t>(~uint64_t{0} >> (64 - bits));
}

ValueRange Bits(Op op, DType type, const ValueRange& a, const ValueRange& b) {
  const bool both = a.min >= 0 && b.min >= 0;
  if (op == Op::kAnd) {
    if (both) return ValueRange::Of(0, std::min(a.max, b.max));
    if (a.min >= 0 || b.min >= 0) return ValueRange::Of(0, a.min >= 0 ? a.max : b.max);
  }
  ValueRange range = FullRange(type);
  if (both) range = ValueRange::Of(op == Op::kOr ? std::max(a.min, b.min) : 0, AllBits(a.max, b.max));
  if (op == Op::kOr) range.zero = range.zero && a.zero && b.zero;
  return range.Normal();
}

ValueRange Shifted(Op op, DType type, const ValueRange& a, const ValueRange& amount) {
  if (op == Op::kShrU && a.min < 0) return FullRange(type);
  const int64_t least = std::clamp<int64_t>(amount.min, 0, 63), most = std::clamp<int64_t>(amount.max, 0, 63);
  if (op == Op::kShl) {
    const Wide low = Wide{1} << least, high = Wide{1} << most;
    return InType(type, EndsOf({a.min * low, a.min * high, a.max * low, a.max * high}), a.zero);
  }
  return InType(type, EndsOf({a.min >> least, a.min >> most, a.max >> least, a.max >> most}));
}

std::optional<bool> Compared(Op op, const ValueRange& a, const ValueRange& b) {
  const auto known = [](bool yes, bool no) {
    return yes ? std::optional(true) : no ? std::optional(false) : std::nullopt;
  };
  const bool less = a.max<b.min, greater = a.min> b.max;
  const bool apart = less || greater || (a == ValueRange::Of(0, 0) && !b.MayBe(0)) ||
                     (b == ValueRange::Of(0, 0) && !a.MayBe(0));
  const bool equal = a.min == a.max && a.min == b.min && b.min == b.max;
  switch (op) {
    case Op::kCmpEq:
    case Op::kCmpUEq:
      return known(equal, apart);
    case Op::kCmpNe:
    case Op::kCmpUNe:
      return known(apart, equal);
    case Op::kCmpLt:
    case Op::kCmpULt:
      return known(less, a.min >= b.max);
    case Op::kCmpGe:
    case Op::kCmpUGe:
      return known(a.min >= b.max, less);
    case Op::kCmpGt:
    case Op::kCmpUGt:
      return known(greater, a.max <= b.min);
    case Op::kCmpLe:
    case Op::kCmpULe:
      return known(a.max <= b.min, greater);
    default:
      return std::nullopt;
  }
}

bool IsUnsignedOrder(Op op) {
  return op == Op::kCmpULt || op == Op::kCmpULe || op == Op::kCmpUGt || op == Op::kCmpUGe;
}

ValueRange Comparison(Op op, DType operand_type, const ValueRange& a, const ValueRange& b) {
  if (IsFloat(operand_type)) return kTruth;  // a comparison with NaN may have either result
  if (IsUnsignedOrder(op) && (a.min < 0 || b.min < 0)) return kTruth;
  const std::optional<bool> known = Compared(op, a, b);
  return known ? ValueRange::Of(*known, *known) : kTruth;
}

ValueRange CastRange(Op op, DType type, DType from, const ValueRange& a) {
  if (op == Op::kBitcast && IsFloat(type) != IsFloat(from)) return FullRange(type);
  if (op != Op::kCast && a.min < 0) return FullRange(type);
  return InType(type, {a.min, a.max}, a.zero || IsFloat(from), a.minus_one || IsFloat(from));
}

// Returns the range of min(a, b) or max(a, b).
ValueRange Extreme(bool max, DType type, const ValueRange& a, const ValueRange& b) {
  const auto pick = [&](int64_t x, int64_t y) { return max ? std::max(x, y) : std::min(x, y); };
  return InType(type, {pick(a.min, b.min), pick(a.max, b.max)}, a.zero || b.zero, a.minus_one || b.minus_one);
}

}  // namespace

ValueRange ValueRange::Normal() const {
  ValueRange r = *this;
  if (!r.minus_one && r.min == -1) r.min = 0;
  if (!r.zero && r.min == 0) r.min = 1;
  if (!r.zero && r.max == 0) r.max = -1;
  if (!r.minus_one && r.max == -1) r.max = -2;
  if (r.empty()) return None();
  r.zero = r.zero && r.min <= 0 && r.max >= 0;
  r.minus_one = r.minus_one && r.min <= -1 && r.max >= -1;
  return r;
}

ValueRange ValueRange::Without(int64_t value) const {
  ValueRange r = *this;
  if (value == 0) r.zero = false;
  if (value == -1) r.minus_one = false;
  if (r.min == value && r.max == value) return None();
  if (r.min == value) ++r.min;
  if (r.max == value) --r.max;
  return r.Normal();
}

ValueRange Hull(const ValueRange& a, const ValueRange& b) {
  if (a.empty()) return b;
  if (b.empty()) return a;
  return {std::min(a.min, b.min), std::max(a.max, b.max), a.zero || b.zero, a.minus_one || b.minus_one};
}

ValueRange Intersection(const ValueRange& a, const ValueRange& b) {
  return ValueRange{std::max(a.min, b.min), std::min(a.max, b.max), a.zero && b.zero,
                    a.minus_one && b.minus_one}
      .Normal();
}

bool IsPartial(Op op, DType type) {
  switch (op) {
    case Op::kDiv:
    case Op::kRem:
    case Op::kFloorDiv:
    case Op::kCeilDiv:
    case Op::kDivU:
    case Op::kRemU:
      return !IsFloat(type);
    default:
      return IsShift(op);
  }
}

bool IsDefined(Op op, DType type, const ValueRange& a, const ValueRange& b) {
  if (IsShift(op)) return b.Within(0, type == DType::kI1 ? 0 : 8 * SizeOf(type) - 1);
  if (b.MayBe(0)) return false;
  if (op == Op::kDivU || op == Op::kRemU || !b.MayBe(-1)) return true;
  return !a.MayBe(FullRange(type).min);
}

ValueRange FullRange(DType type) {
  switch (type) {
    case DType::kI1:
      return kTruth;
    case DType::kU8:
      return ValueRange::Of(0, 255);
    default:
      break;
  }
  if (IsFloat(type) || SizeOf(type) == 8) return {};
  const int64_t half = int64_t{1} << (8 * SizeOf(type) - 1);
  return {-half, half - 1};
}

ValueRange ApplyToRanges(Op op, DType type, DType operand_type, const ValueRange& a, const ValueRange& b,
                         const ValueRange& c, bool same) {
  const int arity = Arity(op);
  if (a.empty() || (arity > 1 && b.empty() && op != Op::kSelect)) return ValueRange::None();
  const bool f = IsFloat(type);
  const auto one = [](const ValueRange& range) { return range.min == range.max; };
  if (!f && !IsFloat(operand_type) && HasFunction(op, operand_type) && one(a) && (arity < 2 || one(b)) &&
      (arity < 3 || one(c)) && (!IsPartial(op, type) || IsDefined(op, type, a, b))) {
    const Scalar value = FunctionOf(op, operand_type)({.i = a.min}, {.i = b.min}, {.i = c.min});
    return ValueRange::Of(RoundScalar(type, value).i, RoundScalar(type, value).i);
  }
  if (IsComparison(op)) return Comparison(op, operand_type, a, b);
  switch (op) {
    case Op::kSelect:
      if (a.min == a.max) return a.min != 0 ? b : c;
      return Hull(b, c);
    case Op::kCast:
    case Op::kCastUnsigned:
    case Op::kBitcast:
      return CastRange(op, type, operand_type, a);
    case Op::kAdd:
      return InType(type, {Wide{a.min} + b.min, Wide{a.max} + b.max});
    case Op::kSub:
      if (same && !f) return ValueRange::Of(0, 0);
      return InType(type, {Wide{a.min} - b.max, Wide{a.max} - b.min});
    case Op::kMul: {
      Ends ends = Products(a, b);
      if (same) ends.min = std::max<Wide>(ends.min, 0);
      return InType(type, ends, f || a.zero || b.zero);
    }
    case Op::kFma: {
      const Ends ends = Products(a, b);
      return InType(type, {ends.min + c.min, ends.max + c.max});
    }
    case Op::kDiv:
      return f ? FullRange(type) : InType(type, Quotients(a, b));
    case Op::kFloorDiv:
    case Op::kCeilDiv: {
      const Ends ends = Quotients(a, b);
      return InType(type, {ends.min - (op == Op::kFloorDiv), ends.max + (op == Op::kCeilDiv)});
    }
    case Op::kRem:
      return f ? FullRange(type) : InType(type, Remainders(a, b));
    case Op::kDivU:
      return a.min < 0 || b.min < 0 ? FullRange(type) : InType(type, Quotients(a, b));
    case Op::kRemU:
      return a.min < 0 || b.min < 0 ? FullRange(type) : InType(type, Remainders(a, b));
    case Op::kMax:
    case Op::kMaxNum:
      return Extreme(true, type, a, b);
    case Op::kMin:
    case Op::kMinNum:
      return Extreme(false, type, a, b);
    case Op::kMaxU:
      return a.min < 0 || b.min < 0 ? Hull(a, b) : Extreme(true, type, a, b);
    case Op::kMinU:
      return a.min < 0 || b.min < 0 ? Hull(a, b) : Extreme(false, type, a, b);
    case Op::kAnd:
    case Op::kOr:
    case Op::kXor:
      return Bits(op, type, a, b);
    case Op::kShl:
    case Op::kShr:
    case Op::kShrU:
      return Shifted(op, type, a, b);
    case Op::kNeg:
      return InType(type, {-Wide{a.max}, -Wide{a.min}}, a.zero);
    case Op::kNot:
      return type == DType::kI1 ? InType(type, {1 - a.max, 1 - a.min})
                                : InType(type, {-1 - Wide{a.max}, -1 - Wide{a.min}}, a.minus_one, a.zero);
    case Op::kAbs: {
      const Wide least = a.min > 0 ? Wide{a.min} : a.max < 0 ? -Wide{a.max} : 0;
      return InType(type, {least, std::max(Wide{a.max}, -Wide{a.min})}, a.zero);
    }
    case Op::kFloor:
    case Op::kCeil:
    case Op::kRound:
    case Op::kRoundEven:
    case Op::kTrunc:
      return ValueRange::Of(a.min, a.max);
    case Op::kTanh:
    case Op::kErf:
    case Op::kSin:
    case Op::kCos:
      return ValueRange::Of(-1, 1);
    case Op::kExp:
    case Op::kExp2:
      return ValueRange::Of(0, ValueRange::kMax);
    default:
      return FullRange(type);
  }
}

}  // namespace kiln
