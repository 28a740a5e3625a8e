#include "backends/import/combiner.h"

#include "llvm/ADT/DenseSet.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"

namespace kiln {
namespace {

using mlir::arith::CmpFPredicate;
using mlir::arith::CmpIPredicate;

struct Step {
  Monoid::Kind kind;
  mlir::Value left, right;
  bool subtracts = false;  // the step computes left - right
  bool skips_nan = false;
  bool starts_from_nan = false;
  bool is_unsigned = false;
  mlir::Value factor = {};  // multiplies the term
};

// A select that takes the term or keeps the accumulator, depending on a comparison of the two.
struct Choice {
  mlir::Value term, accumulator;
  bool inverted = false;  // takes the term if the comparison is false
  bool swapped = false;   // the accumulator is the left operand of the comparison
};

std::optional<Choice> ChoiceOf(mlir::arith::SelectOp select, mlir::Value left, mlir::Value right,
                               mlir::Value accumulator) {
  Choice choice;
  choice.inverted = select.getTrueValue() == accumulator;
  choice.term = choice.inverted ? select.getFalseValue() : select.getTrueValue();
  choice.accumulator = choice.inverted ? select.getTrueValue() : select.getFalseValue();
  choice.swapped = left == accumulator;
  const mlir::Value other = choice.swapped ? right : left;
  const mlir::Value same = choice.swapped ? left : right;
  if (choice.accumulator != accumulator || same != accumulator || other != choice.term) return std::nullopt;
  return choice;
}

// Returns the step of a maximum or minimum of integers. On single bits it becomes an or or an and: true is the larger
// value as an unsigned bit, and the smaller one, -1, as a signed bit.
Step Extremum(bool max, mlir::Value left, mlir::Value right, bool is_unsigned) {
  Step step{max ? Monoid::Kind::kMax : Monoid::Kind::kMin, left, right};
  if (left.getType().isInteger(1)) {
    step.kind = max == is_unsigned ? Monoid::Kind::kOr : Monoid::Kind::kAnd;
  } else {
    step.is_unsigned = is_unsigned;
  }
  return step;
}

// Matches a maximum or minimum that is written as select(comparison, ...). A select that keeps the accumulator unless
// `term > accumulator` never takes a NaN, so the step skips NaN. A select that takes the term if the comparison is
// unordered forgets all values before a NaN; that is no monoid and is not matched.
std::optional<Step> SelectStep(mlir::arith::SelectOp select, mlir::Value accumulator) {
  if (auto compare = select.getCondition().getDefiningOp<mlir::arith::CmpFOp>()) {
    const auto choice = ChoiceOf(select, compare.getLhs(), compare.getRhs(), accumulator);
    if (!choice) return std::nullopt;
    const CmpFPredicate p = compare.getPredicate();
    const bool greater = choice->inverted ? p == CmpFPredicate::ULE || p == CmpFPredicate::ULT
                                          : p == CmpFPredicate::OGT || p == CmpFPredicate::OGE;
    const bool less = choice->inverted ? p == CmpFPredicate::UGE || p == CmpFPredicate::UGT
                                       : p == CmpFPredicate::OLT || p == CmpFPredicate::OLE;
    if (!greater && !less) return std::nullopt;
    const bool max = greater != choice->swapped;
    return Step{max ? Monoid::Kind::kMax : Monoid::Kind::kMin, choice->accumulator, choice->term, false,
                true};
  }
  if (auto compare = select.getCondition().getDefiningOp<mlir::arith::CmpIOp>()) {
    const auto choice = ChoiceOf(select, compare.getLhs(), compare.getRhs(), accumulator);
    if (!choice) return std::nullopt;
    const CmpIPredicate p = compare.getPredicate();
    const bool is_unsigned = p > CmpIPredicate::sge;
    const bool greater = p == CmpIPredicate::sgt || p == CmpIPredicate::sge || p == CmpIPredicate::ugt ||
                         p == CmpIPredicate::uge;
    if (p == CmpIPredicate::eq || p == CmpIPredicate::ne) return std::nullopt;
    const bool max = (greater != choice->swapped) != choice->inverted;
    return Extremum(max, choice->accumulator, choice->term, is_unsigned);
  }
  return std::nullopt;
}

// Returns the step of a reduction that an operation computes, such as a sum or a maximum; nullopt for other operations.
// Single bits are added and subtracted modulo 2, as an exclusive or, and multiplied as an and.
std::optional<Step> StepOf(mlir::Operation* op, mlir::Value accumulator) {
  using namespace mlir::arith;  // NOLINT: the operations of one dialect
  if (auto select = llvm::dyn_cast<SelectOp>(op)) return SelectStep(select, accumulator);
  if (auto fma = llvm::dyn_cast<mlir::math::FmaOp>(op)) {
    Step step{Monoid::Kind::kSum, fma.getC(), fma.getA()};
    step.factor = fma.getB();
    return step;
  }
  if (op->getNumOperands() != 2) return std::nullopt;
  const mlir::Value l = op->getOperand(0), r = op->getOperand(1);
  const bool bit = l.getType().isInteger(1);
  if (llvm::isa<XOrIOp>(op) || (bit && llvm::isa<AddIOp, SubIOp>(op)))
    return Step{Monoid::Kind::kCustom, l, r};
  if (llvm::isa<AddFOp, AddIOp>(op)) return Step{Monoid::Kind::kSum, l, r};
  if (llvm::isa<SubFOp, SubIOp>(op)) return Step{Monoid::Kind::kSum, l, r, true};
  if (llvm::isa<AndIOp>(op) || (bit && llvm::isa<MulIOp>(op))) return Step{Monoid::Kind::kAnd, l, r};
  if (llvm::isa<OrIOp>(op)) return Step{Monoid::Kind::kOr, l, r};
  if (llvm::isa<MulFOp, MulIOp>(op)) return Step{Monoid::Kind::kProduct, l, r};
  if (llvm::isa<MaximumFOp>(op)) return Step{Monoid::Kind::kMax, l, r};
  if (llvm::isa<MinimumFOp>(op)) return Step{Monoid::Kind::kMin, l, r};
  if (llvm::isa<MaxNumFOp>(op)) return Step{Monoid::Kind::kMax, l, r, false, true, true};
  if (llvm::isa<MinNumFOp>(op)) return Step{Monoid::Kind::kMin, l, r, false, true, true};
  if (llvm::isa<MaxSIOp, MaxUIOp>(op)) return Extremum(true, l, r, llvm::isa<MaxUIOp>(op));
  if (llvm::isa<MinSIOp, MinUIOp>(op)) return Extremum(false, l, r, llvm::isa<MinUIOp>(op));
  return std::nullopt;
}

}  // namespace

bool DependsOn(mlir::Value value, mlir::Value argument) {
  llvm::SmallVector<mlir::Value> open{value};
  llvm::DenseSet<mlir::Value> seen;
  while (!open.empty()) {
    const mlir::Value next = open.pop_back_val();
    if (next == argument) return true;
    mlir::Operation* op = next.getDefiningOp();
    if (!seen.insert(next).second || !op || op->getBlock() != argument.getParentBlock()) continue;
    open.append(op->operand_begin(), op->operand_end());
  }
  return false;
}

std::optional<Combiner> Recognize(mlir::Value result, mlir::Value accumulator) {
  Combiner combiner;
  while (result != accumulator) {
    mlir::Operation* op = result.getDefiningOp();
    if (!op || op->getBlock() != accumulator.getParentBlock()) return std::nullopt;
    const auto step = StepOf(op, accumulator);
    if (!step) return std::nullopt;
    if (!combiner.terms.empty() && (step->kind != combiner.kind || step->skips_nan != combiner.skips_nan ||
                                    step->is_unsigned != combiner.is_unsigned))
      return std::nullopt;
    combiner.kind = step->kind;
    combiner.is_unsigned = step->is_unsigned;
    combiner.skips_nan = step->skips_nan;
    combiner.starts_from_nan = step->starts_from_nan;
    const bool left = DependsOn(step->left, accumulator), right = DependsOn(step->right, accumulator);
    if (left == right || (right && (step->subtracts || step->factor))) return std::nullopt;
    if (step->factor && DependsOn(step->factor, accumulator)) return std::nullopt;
    combiner.terms.push_back({left ? step->right : step->left, step->subtracts, step->factor});
    result = left ? step->left : step->right;
  }
  if (combiner.terms.empty()) return std::nullopt;
  return combiner;
}

}  // namespace kiln
