#include "lang/graph/plain_expressions.h"

#include <cmath>
#include <optional>

#include "absl/base/casts.h"
#include "lang/schedule/rewrite.h"

namespace kiln {
namespace {

// Returns the value of a literal of floats; NaN for other expressions.
double Number(const Program& p, Id expr) {
  const Expr& e = p.exprs[expr];
  return e.op == Op::kConstant && IsFloat(e.dtype) ? absl::bit_cast<double>(e.Number()) : NAN;
}

bool IsZero(double value, bool negative) { return value == 0 && std::signbit(value) == negative; }

// A select by a comparison of its operands, such as select(a > b, a, b), that is a maximum or a minimum.
struct Clip {
  Op op;       // kMax or kMin
  bool exact;  // it is that for NaN and zeros too
};

// True if a select by a comparison of `a` and `b` is kMax or kMin bit for bit. `a` and `b` are the values of literals;
// NaN stands for any other operand. `result_of_nan` is the operand (0 or 1) that is selected if one is NaN,
// `result_of_equal` the one that is selected if they are equal.
bool IsExact(Op op, double a, double b, int result_of_nan, int result_of_equal) {
  const bool literal[] = {!std::isnan(a), !std::isnan(b)};
  if (literal[0] == literal[1] || literal[result_of_nan]) return false;  // NaN gives NaN
  const double bound = literal[0] ? a : b;
  if (bound != 0) return true;
  const bool bound_wins = (op == Op::kMax) != std::signbit(bound);  // of zeros of any sign
  return literal[result_of_equal] == bound_wins;
}

std::optional<Clip> AsClip(const Program& p, const Expr& select) {
  const Expr& condition = p.exprs[select.operand(0)];
  const Id then = select.operand(1), other = select.operand(2);
  bool greater = false, equal = false, unordered = false;
  switch (condition.op) {
    case Op::kCmpGe:
    case Op::kCmpUGe:
      equal = true;
      [[fallthrough]];
    case Op::kCmpGt:
    case Op::kCmpUGt:
      greater = true;
      break;
    case Op::kCmpLe:
    case Op::kCmpULe:
      equal = true;
      [[fallthrough]];
    case Op::kCmpLt:
    case Op::kCmpULt:
      break;
    default:
      return std::nullopt;
  }
  unordered = condition.op >= Op::kCmpULt && condition.op <= Op::kCmpUGe;
  const Id a = condition.operand(0), b = condition.operand(1);
  const bool swapped = then == b && other == a;
  if (a == b || (!swapped && (then != a || other != b))) return std::nullopt;
  const Op op = greater != swapped ? Op::kMax : Op::kMin;
  const auto selected = [&](bool condition_holds) { return condition_holds != swapped ? 0 : 1; };
  return Clip{op, IsExact(op, Number(p, a), Number(p, b), selected(unordered), selected(equal))};
}

}  // namespace

void PlainExpressions::Rewrite(Id block) {
  rewritten_.clear();
  ranges_.clear();
  extents_ = IterExtents(p_, block);
  const Range values = Of(p_.block(block).values);
  p_.block(block).values = values;
  const Range initial = Of(p_.block(block).initial);
  p_.block(block).initial = initial;
}

Range PlainExpressions::Of(Range list) {
  std::vector<int32_t> exprs;
  for (int i = 0; i < list.count; ++i) exprs.push_back(Of(p_.lists[list.begin + i]));
  return p_.AddList(exprs);
}

Id PlainExpressions::Of(Id expr) {
  if (const auto known = rewritten_.find(expr); known != rewritten_.end()) return known->second;
  Expr e = p_.exprs[expr];
  for (Id& operand : e.Operands()) operand = Of(operand);
  const Id plain = Plain(e);
  rewritten_[expr] = plain;
  return plain;
}

Id PlainExpressions::Literal(DType dtype, double value) {
  return p_.AddExpr(Expr::Constant(dtype, absl::bit_cast<int64_t>(value)));
}

// Returns the values that an expression may have: a range for integers that follow from the iters, otherwise all of the
// type.
ValueRange PlainExpressions::RangeOf(Id expr) {
  if (const auto known = ranges_.find(expr); known != ranges_.end()) return known->second;
  return ranges_[expr] = RangeOf(p_.exprs[expr]);
}

ValueRange PlainExpressions::RangeOf(const Expr& e) {
  if (IsFloat(e.dtype)) return FullRange(e.dtype);
  if (e.op == Op::kConstant) return ValueRange::Of(e.Number(), e.Number());
  if (e.op == Op::kIndex) {
    const Interval bounds = Bounds(p_.SumOf(e.AsIndex()), [&](Source source) { return extents_[source.id]; });
    return ValueRange::Of(bounds.min, bounds.max);
  }
  const auto operands = e.Operands();
  if (operands.empty() || operands.size() > 2 || e.op <= Op::kWithin) return FullRange(e.dtype);
  const DType type = p_.exprs[operands[0]].dtype;
  if (IsFloat(type)) return FullRange(e.dtype);
  const ValueRange a = RangeOf(operands[0]), b = operands.size() > 1 ? RangeOf(operands[1]) : ValueRange();
  return ApplyToRanges(e.op, e.dtype, type, a, b, {});
}

Id PlainExpressions::Plain(const Expr& e) {
  if (IsComparison(e.op)) {
    const ValueRange range = RangeOf(e);
    if (range.min == range.max) return Add(Expr::Constant(e.dtype, range.min));
  }
  if (e.op == Op::kSelect) return PlainSelect(e);
  if (!IsFloat(e.dtype)) return Add(e);
  switch (e.op) {
    case Op::kDiv: {
      const double by = Number(p_, e.operand(1));
      int exponent = 0;
      if (by == 1) return e.operand(0);
      if (std::abs(std::frexp(by, &exponent)) != 0.5 || std::abs(exponent) > 14) return Add(e);
      return Add({Op::kMul, e.dtype, e.operand(0), Literal(e.dtype, 1 / by)});
    }
    case Op::kMul:
      for (const int i : {0, 1})
        if (Number(p_, e.operand(i)) == 1) return e.operand(1 - i);
      return Add(e);
    case Op::kMax:
    case Op::kMin:
      for (const int i : {0, 1})
        if (Number(p_, e.operand(i)) == (e.op == Op::kMax ? -INFINITY : INFINITY)) return e.operand(1 - i);
      return Add(e);
    case Op::kAdd:
    case Op::kSub:
      return WithoutZero(e);
    default:
      return Add(e);
  }
}

// Leaves out a zero: x + -0 and x - 0 are x. With assume_, x + 0 and x - -0 are x too; assumed_ counts these, since the
// sign of a zero may change. Returns other expressions as they are.
Id PlainExpressions::WithoutZero(const Expr& e) {
  for (const int i : {1, 0}) {
    const double value = Number(p_, e.operand(i));
    if (value != 0 || (e.op == Op::kSub && i == 0)) continue;
    const bool exact = IsZero(value, /*negative=*/e.op == Op::kAdd);
    if (!exact && !assume_) continue;
    assumed_ += exact ? 0 : 1;
    return e.operand(1 - i);
  }
  return Add(e);
}

Id PlainExpressions::PlainSelect(const Expr& e) {
  const Expr& condition = p_.exprs[e.operand(0)];
  if (condition.op == Op::kConstant) return e.operand(condition.Number() != 0 ? 1 : 2);
  if (e.operand(1) == e.operand(2)) return e.operand(1);
  if (!IsFloat(e.dtype)) return Add(e);
  const std::optional<Clip> clip = AsClip(p_, e);
  if (!clip.has_value() || (!clip->exact && !assume_)) return Add(e);
  assumed_ += clip->exact ? 0 : 1;
  return Plain({clip->op, e.dtype, e.operand(1), e.operand(2)});
}

}  // namespace kiln
