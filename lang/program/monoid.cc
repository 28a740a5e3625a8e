// Makes the monoids of a program, with their identities, combinations and flags: the named ones (sum, product, min,
// max, and, or), argmax and argmin, and custom ones.
#include <cstring>
#include <limits>

#include "lang/base/check.h"
#include "lang/program/program.h"

namespace kiln {
namespace {

int64_t Bits(double value) {
  int64_t bits;
  std::memcpy(&bits, &value, sizeof bits);
  return bits;
}

// Returns the least or the greatest value of an integer type; that of an i64 for other types.
int64_t Limit(DType type, bool least) {
  switch (type) {
    case DType::kI1:
      return least ? 0 : 1;
    case DType::kI8:
      return least ? -128 : 127;
    case DType::kU8:
      return least ? 0 : 255;
    case DType::kI16:
      return least ? -32768 : 32767;
    case DType::kI32:
      return least ? std::numeric_limits<int32_t>::min() : std::numeric_limits<int32_t>::max();
    default:
      return least ? std::numeric_limits<int64_t>::min() : std::numeric_limits<int64_t>::max();
  }
}

// Returns the constant with all bits of the type set: 1 for i1, 255 for u8, and -1 for other integers.
int64_t UnsignedLimit(DType type) { return type == DType::kI1 ? 1 : type == DType::kU8 ? 255 : -1; }

int64_t IdentityBits(Monoid::Kind kind, DType type) {
  const double inf = std::numeric_limits<double>::infinity();
  switch (kind) {
    case Monoid::Kind::kSum:
      return 0;  // also the bits of +0.0
    case Monoid::Kind::kProduct:
      return IsFloat(type) ? Bits(1.0) : 1;
    case Monoid::Kind::kMin:
      return IsFloat(type) ? Bits(inf) : Limit(type, false);
    case Monoid::Kind::kMax:
      return IsFloat(type) ? Bits(-inf) : Limit(type, true);
    case Monoid::Kind::kAnd:
      return UnsignedLimit(type);
    case Monoid::Kind::kOr:
      return 0;
    case Monoid::Kind::kCustom:
      break;
  }
  KILN_CHECK(false, "a custom monoid has no table entry");
  return 0;
}

constexpr Op kCombine[] = {Op::kAdd, Op::kMul, Op::kMin, Op::kMax, Op::kAnd, Op::kOr};
constexpr absl::string_view kNames[] = {"sum", "product", "min", "max", "and", "or", "custom"};

}  // namespace

absl::string_view ToString(Monoid::Kind kind) { return kNames[static_cast<int>(kind)]; }

Id Program::AddMonoid(Monoid::Kind kind, DType dtype) {
  Monoid monoid;
  monoid.kind = kind;
  monoid.idempotent = kind != Monoid::Kind::kSum && kind != Monoid::Kind::kProduct;
  monoid.exact = monoid.idempotent || !IsFloat(dtype);
  const Id identity_expr = AddExpr(Expr::Constant(dtype, IdentityBits(kind, dtype)));
  const bool unsigned_bytes = dtype == DType::kU8 || dtype == DType::kI1;
  Op op = kCombine[static_cast<int>(kind)];
  if (unsigned_bytes && op == Op::kMin) op = Op::kMinU;
  if (unsigned_bytes && op == Op::kMax) op = Op::kMaxU;
  const Id left = AddExpr(Expr::Arg(dtype, 0)), right = AddExpr(Expr::Arg(dtype, 1));
  const Id combine = AddExpr({op, dtype, left, right});
  for (size_t i = 0; i < monoids.size(); ++i) {
    if (monoids[i].kind == kind && List(monoids[i].identity)[0] == identity_expr) return static_cast<Id>(i);
  }
  monoid.identity = AddList({identity_expr});
  monoid.combine = AddList({combine});
  monoids.push_back(monoid);
  return static_cast<Id>(monoids.size()) - 1;
}

Id Program::AddCustomMonoid(Op combine, DType dtype, int64_t identity, bool idempotent) {
  const Id left = AddExpr(Expr::Arg(dtype, 0)), right = AddExpr(Expr::Arg(dtype, 1));
  Monoid monoid;
  monoid.kind = Monoid::Kind::kCustom;
  monoid.idempotent = idempotent;
  monoid.exact = true;
  monoid.identity = AddList({AddExpr(Expr::Constant(dtype, identity))});
  monoid.combine = AddList({AddExpr({combine, dtype, left, right})});
  monoids.push_back(monoid);
  return static_cast<Id>(monoids.size()) - 1;
}

Id Program::AddArgMonoid(Monoid::Kind kind, DType value, DType index, bool last, bool is_unsigned) {
  KILN_CHECK(kind == Monoid::Kind::kMax || kind == Monoid::Kind::kMin, "no argument of a ", ToString(kind));
  const bool max = kind == Monoid::Kind::kMax;
  const auto arg = [&](DType type, int64_t number) { return AddExpr(Expr::Arg(type, number)); };
  const auto make = [&](Op op, DType type, Id a, Id b, Id c = kNone) { return AddExpr({op, type, a, b, c}); };
  const auto test = [&](Op op, Id a, Id b) { return make(op, DType::kI1, a, b); };
  const Id lv = arg(value, 0), li = arg(index, 1), rv = arg(value, 2), ri = arg(index, 3);
  Id better = is_unsigned ? test(max ? Op::kCmpUGt : Op::kCmpULt, rv, lv)
                          : test(max ? Op::kCmpGt : Op::kCmpLt, rv, lv);
  Id as_good = is_unsigned ? test(max ? Op::kCmpUGe : Op::kCmpULe, rv, lv)
                           : test(max ? Op::kCmpGe : Op::kCmpLe, rv, lv);
  if (IsFloat(value)) {
    better =
        make(Op::kAnd, DType::kI1, test(max ? Op::kCmpUGt : Op::kCmpULt, rv, lv), test(Op::kCmpOrd, lv, lv));
    as_good = make(Op::kOr, DType::kI1, as_good, test(Op::kCmpUno, rv, rv));
  }
  const Id wins =
      make(Op::kSelect, DType::kI1, test(last ? Op::kCmpGt : Op::kCmpLt, ri, li), as_good, better);
  Monoid monoid;
  monoid.kind = Monoid::Kind::kCustom;
  monoid.idempotent = monoid.exact = true;
  const int64_t worst = !is_unsigned ? IdentityBits(kind, value) : max ? 0 : UnsignedLimit(value);
  monoid.identity =
      AddList({AddExpr(Expr::Constant(value, worst)), AddExpr(Expr::Constant(index, Limit(index, last)))});
  monoid.combine = AddList(
      {make(max ? (is_unsigned ? Op::kMaxU : Op::kMax) : (is_unsigned ? Op::kMinU : Op::kMin), value, lv, rv),
       make(Op::kSelect, index, wins, ri, li)});
  monoids.push_back(monoid);
  return static_cast<Id>(monoids.size()) - 1;
}

absl::string_view ToString(LoopKind kind) {
  constexpr absl::string_view names[] = {"serial",    "parallel", "vectorized", "unrolled",
                                         "pipelined", "block-x",  "block-y",    "block-z",
                                         "thread-x",  "thread-y", "thread-z",   "virtual-thread"};
  return names[static_cast<int>(kind)];
}

absl::string_view ToString(Transport transport) {
  constexpr absl::string_view names[] = {"sync", "async", "bulk"};
  return names[static_cast<int>(transport)];
}

absl::string_view ToString(Provenance::Kind kind) {
  constexpr absl::string_view names[] = {"compute", "copy", "init", "partial", "padding"};
  return names[static_cast<int>(kind)];
}

}  // namespace kiln
