#include "backends/import/generic.h"

#include "absl/base/casts.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "backends/import/combiner.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/AffineExpr.h"

namespace kiln {
namespace {

struct Planned {
  int result = 0;
  std::string name;
  std::vector<Sum> dest;
  Id value = kNone, initial = kNone;
  std::optional<Monoid::Kind> monoid;
};

std::optional<Sum> ToSum(mlir::AffineExpr expr, const std::vector<int64_t>& domain) {
  const auto extent_of = [&](Source source) { return domain[source.id]; };
  if (auto dim = llvm::dyn_cast<mlir::AffineDimExpr>(expr))
    return Builder::Iter(static_cast<int>(dim.getPosition()));
  if (auto constant = llvm::dyn_cast<mlir::AffineConstantExpr>(expr))
    return Sum::Constant(constant.getValue());
  const auto binary = llvm::dyn_cast<mlir::AffineBinaryOpExpr>(expr);
  if (!binary) return std::nullopt;
  const auto left = ToSum(binary.getLHS(), domain), right = ToSum(binary.getRHS(), domain);
  if (!left || !right) return std::nullopt;
  if (expr.getKind() == mlir::AffineExprKind::Add) return Simplify(*left + *right, extent_of);
  if (!right->IsConstant() || (right->offset <= 0 && expr.getKind() != mlir::AffineExprKind::Mul))
    return std::nullopt;
  switch (expr.getKind()) {
    case mlir::AffineExprKind::Mul:
      return Simplify(*left * right->offset, extent_of);
    case mlir::AffineExprKind::FloorDiv:
      return Bounds(*left, extent_of).min < 0 ? std::nullopt : DivMod(*left, right->offset, 0, extent_of);
    case mlir::AffineExprKind::Mod:
      return Bounds(*left, extent_of).min < 0 ? std::nullopt : DivMod(*left, 1, right->offset, extent_of);
    default:
      return std::nullopt;
  }
}

// The identity of a monoid, as the bits of a constant.
int64_t IdentityBits(Monoid::Kind kind, DType dtype) {
  Program scratch;
  const Id monoid = scratch.AddMonoid(kind, dtype);
  return scratch.exprs[scratch.List(scratch.monoids[monoid].identity)[0]].bits;
}

class GenericTranslator {
 public:
  GenericTranslator(mlir::linalg::GenericOp op, Values& values, Refusal& refusal)
      : op_(op),
        values_(values),
        b_(values.builder()),
        scalars_(b_, refusal, [this](mlir::Value value) { return Leaf(value); }) {}

  mlir::LogicalResult Run() {
    if (mlir::failed(Check())) return mlir::failure();
    if (IsFill()) {
      values_.SetSplat(op_->getResult(0), {}, Yielded(0));
      return mlir::success();
    }
    std::vector<Planned> planned;
    for (unsigned r = 0; r < op_->getNumResults(); ++r) {
      if (op_->getResult(r).use_empty()) continue;
      auto plan = Plan(static_cast<int>(r));
      if (mlir::failed(plan)) return mlir::failure();
      planned.push_back(*std::move(plan));
    }
    for (const Planned& plan : planned) Emit(plan);
    return mlir::success();
  }

 private:
  mlir::Value Yielded(unsigned result) { return op_.getBlock()->getTerminator()->getOperand(result); }
  bool IsReduction() { return op_.getNumReductionLoops() > 0; }

  mlir::LogicalResult Check() {
    if (!op_.hasPureTensorSemantics()) {
      return values_.Refuse(op_, "it works on memrefs", "import the tensors that it was bufferized from");
    }
    for (const mlir::Value value :
         llvm::concat<mlir::Value>(llvm::to_vector(op_->getOperands()), llvm::to_vector(op_->getResults()))) {
      std::vector<int64_t> shape;
      std::string why;
      if (!ToDType(value.getType()) && !ShapeOf(value.getType(), &shape, &why)) {
        return values_.Refuse(op_, why, kTypesHint);
      }
    }
    for (const int64_t extent : op_.getStaticLoopRanges()) {
      if (extent < 1)
        return values_.Refuse(op_, "a loop without iterations, or of unknown extent",
                              "give every loop an extent");
      domain_.push_back(extent);
    }
    for (mlir::Operation& inner : op_.getBlock()->without_terminator()) {
      if (inner.getNumResults() == 0 && !mlir::isPure(&inner)) {
        effect_ = &inner;
      }
    }
    return mlir::success();
  }

  // Yields a scalar from outside, everywhere.
  bool IsFill() {
    if (IsReduction() || op_->getNumResults() != 1 || !op_.getIndexingMapsArray().back().isPermutation())
      return false;
    return Yielded(0).getParentBlock() != op_.getBlock();
  }

  mlir::FailureOr<std::vector<Sum>> Index(mlir::AffineMap map) {
    std::vector<Sum> sums;
    for (mlir::AffineExpr expr : map.getResults()) {
      const auto sum = ToSum(expr, domain_);
      if (!sum)
        return values_.Refuse(op_, "an indexing map that is not a sum of multiples",
                              "use maps such as d0 * 2 + d1");
      sums.push_back(*sum);
    }
    return sums;
  }

  mlir::FailureOr<Id> Leaf(mlir::Value value) {
    if (auto index = value.getDefiningOp<mlir::linalg::IndexOp>())
      return b_.Index(Builder::Iter(static_cast<int>(index.getDim())));
    const auto argument = llvm::dyn_cast<mlir::BlockArgument>(value);
    if (!argument || argument.getOwner() != op_.getBlock()) return values_.Leaf(value, op_);
    mlir::OpOperand& operand = op_->getOpOperand(argument.getArgNumber());
    if (ToDType(operand.get().getType())) return scalars_.Translate(operand.get());
    const auto index = Index(op_.getMatchingIndexingMap(&operand));
    if (mlir::failed(index)) return mlir::failure();
    return values_.Read(operand.get(), *index, domain_, scalars_, op_);
  }

  // Each element of the result is written by one instance (or by one for each of the reduction iters).
  mlir::LogicalResult CheckDest(mlir::AffineMap map) {
    std::vector<int> uses(domain_.size(), 0);
    bool plain = true;
    for (mlir::AffineExpr expr : map.getResults()) {
      if (auto dim = llvm::dyn_cast<mlir::AffineDimExpr>(expr)) {
        ++uses[dim.getPosition()];
      } else {
        plain &= expr == mlir::getAffineConstantExpr(0, expr.getContext());
      }
    }
    for (size_t d = 0; d < uses.size(); ++d) {
      plain &= uses[d] == (op_.getIteratorTypesArray()[d] == mlir::utils::IteratorType::parallel ? 1 : 0);
    }
    if (plain) return mlir::success();
    return values_.Refuse(op_, "its result is not indexed by each parallel loop once",
                          "write results by a permutation of the parallel loops");
  }

  mlir::FailureOr<Planned> Plan(int result) {
    mlir::OpOperand* out = op_.getDpsInitOperand(result);
    const mlir::AffineMap map = op_.getMatchingIndexingMap(out);
    if (mlir::failed(CheckDest(map))) return mlir::failure();
    const auto dest = Index(map);
    if (mlir::failed(dest)) return mlir::failure();
    Planned plan;
    plan.result = result;
    plan.dest = *dest;
    const mlir::LogicalResult done = IsReduction() ? PlanReduction(*out, plan) : PlanCompute(plan);
    if (mlir::failed(done)) return mlir::failure();
    if (effect_) return values_.Refuse(effect_, "it has an effect", "export without checks");
    if (plan.name.empty()) plan.name = OriginalName(op_);
    if (plan.name.empty()) plan.name = NameOf(plan);
    return plan;
  }

  mlir::LogicalResult PlanCompute(Planned& plan) {
    const auto value = scalars_.Translate(Yielded(plan.result));
    if (mlir::failed(value)) return mlir::failure();
    plan.value = *value;
    return mlir::success();
  }

  mlir::LogicalResult PlanReduction(mlir::OpOperand& out, Planned& plan) {
    const mlir::BlockArgument accumulator = op_.getMatchingBlockArgument(&out);
    const auto combiner = Recognize(Yielded(plan.result), accumulator);
    if (!combiner) {
      return values_.Refuse(op_, "a reduction other than a sum, product, minimum, maximum, and, or",
                            "split it into reductions of one of these kinds");
    }
    for (const mlir::BlockArgument other : op_.getRegionOutputArgs()) {
      for (const Combiner::Term& term : combiner->terms) {
        if (DependsOn(term.value, other)) {
          return values_.Refuse(op_, "a reduction whose results depend on each other",
                                "split it into independent reductions");
        }
      }
    }
    const DType dtype = ElementOf(out.get());
    const bool prefers_max = combiner->kind == Monoid::Kind::kMax;
    for (const Combiner::Term& term : combiner->terms) {
      auto lift = scalars_.Translate(term.value);
      if (mlir::failed(lift)) return mlir::failure();
      // A NaN that is skipped is the identity, and the identity is what maxnum and minnum make of it.
      if (combiner->skips_nan)
        lift =
            b_.Make(prefers_max ? Op::kMaxNum : Op::kMinNum, dtype, *lift, Identity(combiner->kind, dtype));
      if (plan.value == kNone) {
        plan.value = term.negated ? Negated(dtype, *lift) : *lift;
      } else {
        plan.value = b_.Make(term.negated ? Op::kSub : CombineOp(combiner->kind), dtype, plan.value, *lift);
      }
    }
    plan.monoid = combiner->kind;
    return PlanInitial(out, dtype, *combiner, plan);
  }

  mlir::LogicalResult PlanInitial(mlir::OpOperand& out, DType dtype, const Combiner& combiner,
                                  Planned& plan) {
    const auto initial = values_.Read(out.get(), plan.dest, domain_, scalars_, op_);
    if (mlir::failed(initial)) return mlir::failure();
    const Expr& e = b_.program().exprs[*initial];
    if (e.op == Op::kConstant && e.bits == IdentityBits(combiner.kind, dtype)) return mlir::success();
    const bool nan = e.op == Op::kConstant && IsFloat(dtype) && std::isnan(absl::bit_cast<double>(e.bits));
    if (nan && combiner.starts_from_nan) return mlir::success();
    if (combiner.skips_nan && (nan || e.op != Op::kConstant)) {
      return values_.Refuse(op_, "a maximum or minimum that skips NaN and starts from NaN or a tensor",
                            "start it from a number");
    }
    plan.initial = *initial;
    return mlir::success();
  }

  Id Identity(Monoid::Kind kind, DType dtype) {
    return scalars_.Number(dtype, kind == Monoid::Kind::kMax ? -std::numeric_limits<double>::infinity()
                                                             : std::numeric_limits<double>::infinity());
  }

  Id Negated(DType dtype, Id value) {
    return IsFloat(dtype) ? b_.Make(Op::kNeg, dtype, value)
                          : b_.Make(Op::kSub, dtype, b_.Integer(dtype, 0), value);
  }

  static Op CombineOp(Monoid::Kind kind) {
    constexpr Op ops[] = {Op::kAdd, Op::kMul, Op::kMin, Op::kMax, Op::kAnd, Op::kOr};
    return ops[static_cast<int>(kind)];
  }

  // Choosing one of the two values that were compared is a maximum or minimum, for a name.
  std::string OperationName(const Expr& e) {
    Op op = e.op;
    if (op == Op::kSelect) {
      const Expr& c = b_.program().exprs[e.a];
      const bool greater =
          c.op == Op::kCmpGt || c.op == Op::kCmpGe || c.op == Op::kCmpUGt || c.op == Op::kCmpUGe;
      const bool less =
          c.op == Op::kCmpLt || c.op == Op::kCmpLe || c.op == Op::kCmpULt || c.op == Op::kCmpULe;
      if ((greater || less) && ((c.a == e.b && c.b == e.c) || (c.a == e.c && c.b == e.b))) {
        op = greater == (c.a == e.b) ? Op::kMax : Op::kMin;
      }
    }
    return absl::StrReplaceAll(absl::string_view(kiln::ToString(op)), {{"-", "_"}});
  }

  // "contraction", "reduce_max"; for elementwise blocks the operation that makes the value, or what a plain
  // copy does.
  std::string NameOf(const Planned& plan) {
    const Expr& e = b_.program().exprs[plan.value];
    if (plan.monoid) {
      const bool product = *plan.monoid == Monoid::Kind::kSum && e.op == Op::kMul && e.a != e.b;
      return product ? "contraction"
                     : absl::StrCat("reduce_", absl::string_view(kiln::ToString(*plan.monoid)));
    }
    if (e.op == Op::kConstant) return "fill";
    if (e.op != Op::kLoad) return OperationName(e);
    const mlir::Value yielded = Yielded(plan.result);
    const auto argument = llvm::dyn_cast<mlir::BlockArgument>(yielded);
    if (!argument) return "copy";
    const mlir::AffineMap map = op_.getMatchingIndexingMap(&op_->getOpOperand(argument.getArgNumber()));
    return map.getNumResults() < domain_.size()       ? "broadcast"
           : map.isIdentity() || !map.isPermutation() ? "copy"
                                                      : "transpose";
  }

  void Emit(const Planned& plan) {
    const mlir::Value result = op_->getResult(plan.result);
    const std::string name = values_.UniqueName(plan.name);
    const Id buffer = values_.Temporary(name, result);
    std::vector<Builder::IterSpec> iters = ItersOf(domain_);
    for (size_t d = 0; d < iters.size(); ++d) {
      if (op_.getIteratorTypesArray()[d] == mlir::utils::IteratorType::reduction)
        iters[d].kind = IterKind::kReduction;
    }
    if (plan.monoid) {
      b_.Reduce(name, iters, *plan.monoid, {buffer, plan.dest}, plan.value, plan.initial);
    } else {
      b_.Compute(name, iters, {buffer, plan.dest}, plan.value);
    }
    values_.SetBuffer(result, buffer);
  }

  mlir::linalg::GenericOp op_;
  Values& values_;
  Builder& b_;
  Scalars scalars_;
  std::vector<int64_t> domain_;
  mlir::Operation* effect_ = nullptr;
};

}  // namespace

mlir::LogicalResult TranslateGeneric(mlir::linalg::GenericOp op, Values& values) {
  return GenericTranslator(op, values, values.refusal()).Run();
}

}  // namespace kiln
