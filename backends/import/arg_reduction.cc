#include "backends/import/arg_reduction.h"

#include "backends/import/combiner.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Matchers.h"

namespace kiln {
namespace {

using mlir::arith::CmpFPredicate;
using mlir::arith::CmpIPredicate;

// A case in which a condition is evaluated: how the new value compares to the accumulated one: less, equal, greater, or
// which of the two are NaN.
enum class Order { kLess, kEqual, kGreater, kNewNaN, kOldNaN, kBothNaN };
struct Case {
  Order values;
  int index;  // -1, 0, 1: the new index is less, equal, greater
};

struct Operands {
  mlir::Value value, old_value, index, old_index;
  // Set if signed (or unsigned) integer comparisons of values were seen; an argmax with both is not recognized.
  mutable bool with_sign = false, without_sign = false;
};

bool IsUnsigned(CmpIPredicate p) { return p > CmpIPredicate::sge; }

bool Holds(CmpIPredicate p, int sign) {
  switch (p) {
    case CmpIPredicate::eq:
      return sign == 0;
    case CmpIPredicate::ne:
      return sign != 0;
    case CmpIPredicate::slt:
    case CmpIPredicate::ult:
      return sign < 0;
    case CmpIPredicate::sle:
    case CmpIPredicate::ule:
      return sign <= 0;
    case CmpIPredicate::sgt:
    case CmpIPredicate::ugt:
      return sign > 0;
    default:
      return sign >= 0;
  }
}

bool Holds(CmpFPredicate p, std::optional<int> sign) {
  const int number = static_cast<int>(p);  // ordered: 1 for equal + 2 for greater + 4 for less
  const bool ordered = p <= CmpFPredicate::ORD,
             unordered = p >= CmpFPredicate::UEQ && p <= CmpFPredicate::UNE;
  const int bits = ordered ? number : unordered ? number - 7 : p == CmpFPredicate::AlwaysTrue ? 7 : 0;
  return sign ? (bits & (*sign == 0 ? 1 : *sign > 0 ? 2 : 4)) != 0 : !ordered;
}

// Compares two operands of a comparison in the given case: sets `sign` to -1, 0 or 1, or to nullopt if they are
// unordered. Returns false unless both operands are values (new or old, also the same one twice), or they are the new
// and the old index.
bool Compare(const Operands& o, const Case& c, mlir::Value left, mlir::Value right,
             std::optional<int>* sign) {
  const auto is = [&](mlir::Value a, mlir::Value b) { return left == a && right == b; };
  const int order = c.values == Order::kLess ? -1 : c.values == Order::kGreater ? 1 : 0;
  const bool both = c.values == Order::kBothNaN;
  const bool new_nan = both || c.values == Order::kNewNaN, old_nan = both || c.values == Order::kOldNaN;
  const auto unless = [](bool nan, int value) { return nan ? std::nullopt : std::optional<int>(value); };
  if (is(o.value, o.old_value)) return *sign = unless(new_nan || old_nan, order), true;
  if (is(o.old_value, o.value)) return *sign = unless(new_nan || old_nan, -order), true;
  if (is(o.value, o.value)) return *sign = unless(new_nan, 0), true;
  if (is(o.old_value, o.old_value)) return *sign = unless(old_nan, 0), true;
  if (is(o.index, o.old_index)) return *sign = c.index, true;
  if (is(o.old_index, o.index)) return *sign = -c.index, true;
  return false;
}

std::optional<bool> Truth(mlir::Value condition, const Operands& o, const Case& c) {
  using namespace mlir::arith;  // NOLINT: the operations of one dialect
  llvm::APInt constant;
  if (mlir::matchPattern(condition, mlir::m_ConstantInt(&constant))) return !constant.isZero();
  mlir::Operation* op = condition.getDefiningOp();
  std::optional<int> sign;
  if (auto compare = llvm::dyn_cast_or_null<CmpFOp>(op)) {
    if (!Compare(o, c, compare.getLhs(), compare.getRhs(), &sign)) return std::nullopt;
    return Holds(compare.getPredicate(), sign);
  }
  if (auto compare = llvm::dyn_cast_or_null<CmpIOp>(op)) {
    const CmpIPredicate p = compare.getPredicate();
    if (!Compare(o, c, compare.getLhs(), compare.getRhs(), &sign) || !sign) return std::nullopt;
    const bool values = compare.getLhs() == o.value || compare.getLhs() == o.old_value;
    if (!values && IsUnsigned(p)) return std::nullopt;
    if (values && p != CmpIPredicate::eq && p != CmpIPredicate::ne)
      (IsUnsigned(p) ? o.without_sign : o.with_sign) = true;
    return Holds(p, *sign);
  }
  if (!llvm::isa_and_present<AndIOp, OrIOp, XOrIOp>(op)) return std::nullopt;
  const auto left = Truth(op->getOperand(0), o, c), right = Truth(op->getOperand(1), o, c);
  if (!left || !right) return std::nullopt;
  return llvm::isa<AndIOp>(op) ? *left && *right : llvm::isa<OrIOp>(op) ? *left || *right : *left != *right;
}

// Matches select(condition, new, old) or select(condition, old, new), where old is the accumulator. Sets `term` to the
// new value, which must not depend on the accumulator. Returns null for others.
mlir::arith::SelectOp ChoiceOf(mlir::Value result, mlir::Value accumulator, mlir::Value* term) {
  auto select = result.getDefiningOp<mlir::arith::SelectOp>();
  if (!select || (select.getTrueValue() == accumulator) == (select.getFalseValue() == accumulator))
    return nullptr;
  *term = select.getTrueValue() == accumulator ? select.getFalseValue() : select.getTrueValue();
  return DependsOn(*term, accumulator) ? nullptr : select;
}

// Returns whether the select takes `term` if the values compare like `values`; nullopt if that also depends on the
// indices, or on something unknown.
std::optional<bool> Takes(mlir::arith::SelectOp select, const Operands& o, mlir::Value term, Order values) {
  std::optional<bool> takes;
  for (const int index : {-1, 0, 1}) {
    const auto truth = Truth(select.getCondition(), o, {values, index});
    if (!truth || (takes && *takes != *truth)) return std::nullopt;
    takes = truth;
  }
  return *takes == (select.getTrueValue() == term);
}

// Recognizes a select as maximum or minimum: sets `kind`, and whether it skips NaN. Returns false if it selects neither
// the larger nor the smaller value, or if a NaN would erase earlier values.
bool KindOfChoice(mlir::arith::SelectOp choice, const Operands& o, mlir::Value term, Monoid::Kind& kind,
                  bool& skips_nan) {
  const auto greater = Takes(choice, o, term, Order::kGreater), less = Takes(choice, o, term, Order::kLess);
  if (!greater || !less || *greater == *less) return false;
  kind = *greater ? Monoid::Kind::kMax : Monoid::Kind::kMin;
  if (!llvm::isa<mlir::FloatType>(term.getType())) return true;
  const auto new_nan = Takes(choice, o, term, Order::kNewNaN),
             old_nan = Takes(choice, o, term, Order::kOldNaN);
  if (!new_nan || !old_nan || (*new_nan && *old_nan)) return false;  // a NaN would erase earlier values
  skips_nan = !*new_nan;
  return true;
}

}  // namespace

std::optional<ArgReduction> RecognizeArg(mlir::Value value, mlir::Value value_accumulator, mlir::Value index,
                                         mlir::Value index_accumulator) {
  ArgReduction arg;
  bool skips_nan = false;
  std::optional<bool> combines_unsigned;  // set if the value is not a select
  auto value_choice = ChoiceOf(value, value_accumulator, &arg.value);
  if (!value_choice) {
    const auto combiner = Recognize(value, value_accumulator);
    if (!combiner || combiner->terms.size() != 1 || combiner->terms[0].negated) return std::nullopt;
    arg.kind = combiner->kind;
    arg.value = combiner->terms[0].value;
    skips_nan = combiner->skips_nan;
    combines_unsigned = combiner->is_unsigned;
  }
  auto index_choice = ChoiceOf(index, index_accumulator, &arg.index);
  if (!index_choice || DependsOn(arg.index, value_accumulator)) return std::nullopt;
  const Operands o{arg.value, value_accumulator, arg.index, index_accumulator};
  const bool floats = llvm::isa<mlir::FloatType>(arg.value.getType());
  if (value_choice && !KindOfChoice(value_choice, o, arg.value, arg.kind, skips_nan)) return std::nullopt;
  if (arg.kind != Monoid::Kind::kMax && arg.kind != Monoid::Kind::kMin) return std::nullopt;
  const bool max = arg.kind == Monoid::Kind::kMax;
  const auto takes = [&](Order values) { return Takes(index_choice, o, arg.index, values); };
  if (takes(max ? Order::kGreater : Order::kLess) != true) return std::nullopt;
  if (takes(max ? Order::kLess : Order::kGreater) != false) return std::nullopt;
  const auto tie = [&](int order) -> std::optional<bool> {
    const auto truth = Truth(index_choice.getCondition(), o, {Order::kEqual, order});
    if (!truth) return std::nullopt;
    return *truth == (index_choice.getTrueValue() == arg.index);
  };
  const auto before = tie(-1), after = tie(1);
  if (!before || !after) return std::nullopt;
  arg.by_order = *before == *after;
  arg.last = *after;
  if (floats) {
    const auto new_nan = takes(Order::kNewNaN);
    if (skips_nan) {
      if (new_nan != false) return std::nullopt;
      arg.nan = ArgReduction::NaN::kSkipped;
    } else {
      const auto both = takes(Order::kBothNaN);
      if (!new_nan || takes(Order::kOldNaN) != false || both != (*new_nan && arg.last)) return std::nullopt;
      arg.nan = *new_nan ? ArgReduction::NaN::kWins : ArgReduction::NaN::kStops;
    }
  }
  if (combines_unsigned) (*combines_unsigned ? o.without_sign : o.with_sign) = true;
  if (o.with_sign && o.without_sign) return std::nullopt;
  arg.is_unsigned = !floats && o.without_sign;
  return arg;
}

}  // namespace kiln
