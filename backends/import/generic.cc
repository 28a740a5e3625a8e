#include "backends/import/generic.h"

#include <memory>
#include <numeric>

#include "absl/base/casts.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "backends/import/arg_blocks.h"
#include "backends/import/combiner.h"
#include "lang/program/product.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlowOps.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/AffineExpr.h"

namespace kiln {
namespace {

// A translated block that is not yet in the program. It computes one result of the linalg.generic, or two for an
// argmax.
struct Planned {
  std::vector<int> results;
  std::string name;
  std::vector<std::vector<IndexSum>> dests;
  std::vector<Id> values, initial;
  std::optional<Monoid::Kind> kind;
  Id monoid = kNone;               // used if `kind` is not set
  std::unique_ptr<ArgBlocks> arg;  // set for two results
};

std::optional<IndexSum> ToSum(mlir::AffineExpr expr, const std::vector<int64_t>& domain) {
  const auto extent_of = [&](Source source) { return domain[source.id]; };
  if (auto dim = llvm::dyn_cast<mlir::AffineDimExpr>(expr))
    return Builder::Iter(static_cast<int>(dim.getPosition()));
  if (auto constant = llvm::dyn_cast<mlir::AffineConstantExpr>(expr))
    return IndexSum::Constant(constant.getValue());
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

// Returns the identity of a monoid, such as 0 for a sum, as the bits of a constant of the dtype.
int64_t IdentityBits(Monoid::Kind kind, DType dtype) {
  Program scratch;
  const Id monoid = scratch.AddMonoid(kind, dtype);
  return scratch.exprs[scratch.List(scratch.monoids[monoid].identity)[0]].Number();
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
    for (const std::vector<int>& results : Blocks()) {
      auto plan = Plan(results);
      if (mlir::failed(plan)) return mlir::failure();
      planned.push_back(*std::move(plan));
    }
    if (mlir::failed(Assertions())) return mlir::failure();
    for (const Planned& plan : planned) Emit(plan);
    return mlir::success();
  }

 private:
  mlir::Value Yielded(unsigned result) { return op_.getBlock()->getTerminator()->getOperand(result); }
  bool IsReduction() { return op_.getNumReductionLoops() > 0; }

  // Returns the results that each block computes: one used result, or for an argmax the value and the index that is
  // chosen with it.
  std::vector<std::vector<int>> Blocks() {
    const auto accumulators = op_.getRegionOutputArgs();
    const int count = static_cast<int>(op_->getNumResults());
    std::vector<int> value_of(count, -1);
    std::vector<bool> taken(count, false);
    for (int r = 0; r < count && IsReduction(); ++r) {
      for (int v = 0; v < count && !op_->getResult(r).use_empty(); ++v) {
        if (v != r && DependsOn(Yielded(r), accumulators[v])) value_of[r] = v;
      }
      if (value_of[r] >= 0) taken[value_of[r]] = true;
    }
    std::vector<std::vector<int>> blocks;
    for (int r = 0; r < count; ++r) {
      if (value_of[r] >= 0) {
        blocks.push_back({value_of[r], r});
      } else if (!taken[r] && !op_->getResult(r).use_empty()) {
        blocks.push_back({r});
      }
    }
    return blocks;
  }

  mlir::LogicalResult Check() {
    if (!op_.hasPureTensorSemantics()) {
      return values_.Refuse(op_, "it works on memrefs", kMemrefHint);
    }
    for (const mlir::Value value :
         llvm::concat<mlir::Value>(llvm::to_vector(op_->getOperands()), llvm::to_vector(op_->getResults()))) {
      std::vector<int64_t> shape;
      Why why;
      if (!ToDType(value.getType()) && !ShapeOf(value.getType(), &shape, &why))
        return values_.Refuse(op_, why);
    }
    for (const int64_t extent : op_.getStaticLoopRanges()) {
      if (extent < 1)
        return values_.Refuse(op_, "a loop without iterations, or of unknown extent",
                              "give every loop an extent of at least 1");
      place_.push_back(static_cast<int>(extents_.size()));
      extents_.push_back(extent);
    }
    if (!Product(extents_)) {
      return values_.Refuse(op_, "its loops have more iterations than an int64 can count", kSplitHint);
    }
    domain_ = extents_;
    for (mlir::Operation& inner : op_.getBlock()->without_terminator()) {
      if (auto assertion = llvm::dyn_cast<mlir::cf::AssertOp>(inner)) {
        assertions_.push_back(assertion);
      } else if (inner.getNumResults() == 0 && !mlir::isPure(&inner)) {
        return values_.Refuse(&inner, "it has an effect", "export without it");
      }
    }
    return mlir::success();
  }

  // True if the operation is a fill: it yields one scalar, computed outside of its body, for every element.
  bool IsFill() {
    if (IsReduction() || op_->getNumResults() != 1 || !op_.getIndexingMapsArray().back().isPermutation())
      return false;
    return Yielded(0).getParentBlock() != op_.getBlock();
  }

  mlir::FailureOr<std::vector<IndexSum>> Index(mlir::AffineMap map) {
    std::vector<IndexSum> sums;
    for (mlir::AffineExpr expr : map.getResults()) {
      auto sum = ToSum(expr, extents_);
      if (!sum)
        return values_.Refuse(op_, "an indexing map that is not a sum of multiples",
                              "use maps such as d0 * 2 + d1");
      for (IndexSplit& split : sum->splits) split.source.id = place_[split.source.id];
      sums.push_back(*std::move(sum));
    }
    return sums;
  }

  IndexSum IterOf(mlir::linalg::IndexOp index) { return Builder::Iter(place_[index.getDim()]); }

  mlir::FailureOr<Id> Leaf(mlir::Value value) {
    if (auto index = value.getDefiningOp<mlir::linalg::IndexOp>()) return b_.Index(IterOf(index));
    auto extract = value.getDefiningOp<mlir::tensor::ExtractOp>();
    if (extract && extract->getBlock() == op_.getBlock())
      return values_.Extract(extract, domain_, scalars_,
                             [this](mlir::linalg::IndexOp index) { return IterOf(index); });
    const auto argument = llvm::dyn_cast<mlir::BlockArgument>(value);
    if (!argument || argument.getOwner() != op_.getBlock()) return values_.Leaf(value, op_);
    mlir::OpOperand& operand = op_->getOpOperand(argument.getArgNumber());
    if (ToDType(operand.get().getType())) return scalars_.Translate(operand.get());
    const auto index = Index(op_.getMatchingIndexingMap(&operand));
    if (mlir::failed(index)) return mlir::failure();
    return values_.Read(operand.get(), *index, domain_, scalars_, op_);
  }

  // Refuses the operation unless each index of its result is a parallel loop or 0, and each parallel loop occurs once.
  // So one iteration writes each element of the result, or one for each point of the reduction loops.
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

  mlir::FailureOr<Planned> Plan(const std::vector<int>& results) {
    Planned plan;
    plan.results = results;
    for (const int result : results) {
      const mlir::AffineMap map = op_.getMatchingIndexingMap(op_.getDpsInitOperand(result));
      if (mlir::failed(CheckDest(map))) return mlir::failure();
      auto dest = Index(map);
      if (mlir::failed(dest)) return mlir::failure();
      plan.dests.push_back(*std::move(dest));
    }
    const mlir::LogicalResult done = results.size() > 1 ? PlanArg(plan)
                                     : IsReduction() ? PlanReduction(*op_.getDpsInitOperand(results[0]), plan)
                                                     : PlanCompute(plan);
    if (mlir::failed(done)) return mlir::failure();
    if (plan.arg) return plan;
    plan.name = OriginalName(op_);
    if (plan.name.empty()) plan.name = NameOf(plan);
    return plan;
  }

  mlir::LogicalResult PlanCompute(Planned& plan) {
    const auto value = scalars_.Translate(Yielded(plan.results[0]));
    if (mlir::failed(value)) return mlir::failure();
    plan.values.push_back(*value);
    return mlir::success();
  }

  mlir::LogicalResult RefuseReduction() {
    return values_.Refuse(
        op_, "a reduction other than a sum, product, minimum, maximum, and, or, xor, argmax, argmin",
        "split it into reductions of one of these kinds");
  }

  mlir::LogicalResult PlanReduction(mlir::OpOperand& out, Planned& plan) {
    const mlir::BlockArgument accumulator = op_.getMatchingBlockArgument(&out);
    const auto combiner = Recognize(Yielded(plan.results[0]), accumulator);
    if (!combiner) return RefuseReduction();
    const DType dtype = ElementOf(out.get());
    Id value = kNone;
    for (const Combiner::Term& term : combiner->terms) {
      auto lift = scalars_.Translate(term.value);
      if (mlir::failed(lift)) return mlir::failure();
      if (term.factor) {
        const auto factor = scalars_.Translate(term.factor);
        if (mlir::failed(factor)) return mlir::failure();
        lift = b_.Mul(*lift, *factor);
      }
      if (combiner->skips_nan) lift = WithoutNaN(combiner->kind, dtype, *lift);
      if (value == kNone) {
        value = term.negated ? Negated(dtype, *lift) : *lift;
      } else {
        value = b_.Make(term.negated ? Op::kSub : CombineOp(*combiner), dtype, value, *lift);
      }
    }
    plan.values.push_back(value);
    const bool max = combiner->kind == Monoid::Kind::kMax;
    if (combiner->kind == Monoid::Kind::kCustom) {
      plan.monoid = b_.CustomMonoid(Op::kXor, dtype, 0, /*idempotent=*/false);
    } else if (combiner->is_unsigned) {
      plan.monoid = b_.CustomMonoid(CombineOp(*combiner), dtype, max ? 0 : -1, /*idempotent=*/true);
    } else {
      plan.kind = combiner->kind;
    }
    return PlanInitial(out, dtype, *combiner, plan);
  }

  mlir::LogicalResult PlanInitial(mlir::OpOperand& out, DType dtype, const Combiner& combiner,
                                  Planned& plan) {
    const auto initial = values_.Read(out.get(), plan.dests[0], domain_, scalars_, op_);
    if (mlir::failed(initial)) return mlir::failure();
    const Expr& e = b_.program().exprs[*initial];
    const Program& p = b_.program();
    const int64_t identity = plan.kind ? IdentityBits(combiner.kind, dtype)
                                       : p.exprs[p.List(p.monoids[plan.monoid].identity)[0]].Number();
    if (e.IsConstant(identity)) return mlir::success();
    const bool nan =
        e.op == Op::kConstant && IsFloat(dtype) && std::isnan(absl::bit_cast<double>(e.Number()));
    if (nan && combiner.starts_from_nan) return mlir::success();
    if (combiner.skips_nan && (nan || e.op != Op::kConstant)) {
      return values_.Refuse(op_, "a maximum or minimum that skips NaN and starts from NaN or a tensor",
                            "start it from a number");
    }
    plan.initial.push_back(*initial);
    return mlir::success();
  }

  mlir::LogicalResult PlanArg(Planned& plan) {
    const int v = plan.results[0], i = plan.results[1];
    const auto accumulators = op_.getRegionOutputArgs();
    const auto arg = RecognizeArg(Yielded(v), accumulators[v], Yielded(i), accumulators[i]);
    if (!arg || plan.dests[0] != plan.dests[1]) return RefuseReduction();
    for (const mlir::BlockArgument accumulator : accumulators) {
      if (DependsOn(arg->value, accumulator) || DependsOn(arg->index, accumulator)) return RefuseReduction();
    }
    const DType value_type = ElementOf(op_->getResult(v)), index_type = ElementOf(op_->getResult(i));
    if (value_type == DType::kI1)
      return values_.Refuse(op_, "an argmax or argmin of i1", "extend its values to i8 (arith.extui)");
    if (IsFloat(index_type) || index_type == DType::kI1) return RefuseReduction();
    plan.arg = std::make_unique<ArgBlocks>(op_, values_, scalars_, plan.dests[0], v, i);
    return plan.arg->Plan(*arg);
  }

  // Adds one block that tests all assertions (cf.assert) of the body, over the loops that they depend on.
  mlir::LogicalResult Assertions() {
    if (assertions_.empty()) return mlir::success();
    std::vector<bool> used(domain_.size(), false);
    for (mlir::cf::AssertOp assertion : assertions_) FindLoops(assertion.getArg(), used);
    domain_.clear();
    for (size_t d = 0; d < used.size(); ++d) {
      place_[d] = static_cast<int>(domain_.size());
      if (used[d]) domain_.push_back(extents_[d]);
    }
    scalars_.Forget();
    Id fails = kNone;
    for (mlir::cf::AssertOp assertion : assertions_) {
      const auto holds = scalars_.Translate(assertion.getArg());
      if (mlir::failed(holds)) return mlir::failure();
      const Id bit =
          b_.Make(Op::kSelect, DType::kI32, *holds, b_.Integer(DType::kI32, 0), b_.Integer(DType::kI32, 1));
      fails = fails == kNone ? bit : b_.Make(Op::kOr, DType::kI32, fails, bit);
    }
    values_.AddAssertion(domain_, fails);
    domain_ = extents_;
    std::iota(place_.begin(), place_.end(), 0);
    return mlir::success();
  }

  void FindLoops(mlir::Value value, std::vector<bool>& used) {
    if (const auto argument = llvm::dyn_cast<mlir::BlockArgument>(value)) {
      if (argument.getOwner() != op_.getBlock()) return;
      const mlir::AffineMap map = op_.getMatchingIndexingMap(&op_->getOpOperand(argument.getArgNumber()));
      for (size_t d = 0; d < used.size(); ++d)
        used[d] = used[d] || map.isFunctionOfDim(static_cast<unsigned>(d));
      return;
    }
    mlir::Operation* op = value.getDefiningOp();
    if (op->getBlock() != op_.getBlock()) return;
    if (auto index = llvm::dyn_cast<mlir::linalg::IndexOp>(op)) used[index.getDim()] = true;
    for (const mlir::Value operand : op->getOperands()) FindLoops(operand, used);
  }

  // Replaces NaN terms by the identity of a maximum or minimum, for reductions that skip NaN: maxnum and minnum of the
  // term and the identity do that.
  Id WithoutNaN(Monoid::Kind kind, DType dtype, Id value) {
    if (!IsFloat(dtype)) return value;
    return b_.Make(kind == Monoid::Kind::kMax ? Op::kMaxNum : Op::kMinNum, dtype, value,
                   Identity(kind, dtype));
  }

  Id Identity(Monoid::Kind kind, DType dtype) {
    return scalars_.Number(dtype, kind == Monoid::Kind::kMax ? -std::numeric_limits<double>::infinity()
                                                             : std::numeric_limits<double>::infinity());
  }

  Id Negated(DType dtype, Id value) {
    return IsFloat(dtype) ? b_.Make(Op::kNeg, dtype, value)
                          : b_.Make(Op::kSub, dtype, b_.Integer(dtype, 0), value);
  }

  static Op CombineOp(const Combiner& combiner) {
    if (combiner.is_unsigned) return combiner.kind == Monoid::Kind::kMax ? Op::kMaxU : Op::kMinU;
    constexpr Op ops[] = {Op::kAdd, Op::kMul, Op::kMin, Op::kMax, Op::kAnd, Op::kOr, Op::kXor};
    return ops[static_cast<int>(combiner.kind)];
  }

  // Returns the name of an elementwise block: its last operation, such as "add". A select of one of the two values that
  // its condition compares is called "max" or "min".
  std::string OperationName(const Expr& e) {
    Op op = e.op;
    if (op == Op::kSelect) {
      const Expr& c = b_.program().exprs[e.operand(0)];
      const bool greater =
          c.op == Op::kCmpGt || c.op == Op::kCmpGe || c.op == Op::kCmpUGt || c.op == Op::kCmpUGe;
      const bool less =
          c.op == Op::kCmpLt || c.op == Op::kCmpLe || c.op == Op::kCmpULt || c.op == Op::kCmpULe;
      if (greater || less) {
        const Id left = c.operand(0), right = c.operand(1), then = e.operand(1), otherwise = e.operand(2);
        if ((left == then && right == otherwise) || (left == otherwise && right == then))
          op = greater == (left == then) ? Op::kMax : Op::kMin;
      }
    }
    return absl::StrReplaceAll(absl::string_view(kiln::ToString(op)), {{"-", "_"}});
  }

  // Returns the name of a block: "contraction" for a sum of products of two different factors, "reduce_max" and the
  // like for other reductions, "fill" for a constant, the last operation of another elementwise block, or for a copy
  // "copy", "transpose" or "broadcast".
  std::string NameOf(const Planned& plan) {
    const Expr& e = b_.program().exprs[plan.values[0]];
    if (plan.kind) {
      const bool product =
          *plan.kind == Monoid::Kind::kSum && e.op == Op::kMul && e.operand(0) != e.operand(1);
      return product ? "contraction" : absl::StrCat("reduce_", absl::string_view(kiln::ToString(*plan.kind)));
    }
    if (plan.monoid != kNone) {
      const Expr& combine =
          b_.program().exprs[b_.program().List(b_.program().monoids[plan.monoid].combine)[0]];
      return absl::StrCat("reduce_", absl::StrReplaceAll(kiln::ToString(combine.op), {{"-", "_"}}));
    }
    if (e.op == Op::kConstant) return "fill";
    if (e.op != Op::kLoad) return OperationName(e);
    const mlir::Value yielded = Yielded(plan.results[0]);
    const auto argument = llvm::dyn_cast<mlir::BlockArgument>(yielded);
    if (!argument) return "copy";
    const mlir::AffineMap map = op_.getMatchingIndexingMap(&op_->getOpOperand(argument.getArgNumber()));
    return map.getNumResults() < domain_.size()       ? "broadcast"
           : map.isIdentity() || !map.isPermutation() ? "copy"
                                                      : "transpose";
  }

  void Emit(const Planned& plan) {
    if (plan.arg) return plan.arg->Emit();
    const std::string name = values_.UniqueName(plan.name);
    std::vector<Builder::Place> dests;
    for (size_t r = 0; r < plan.results.size(); ++r) {
      const mlir::Value result = op_->getResult(plan.results[r]);
      dests.push_back({values_.Temporary(name, result), plan.dests[r]});
      values_.SetBuffer(result, dests.back().buffer);
    }
    std::vector<Builder::IterSpec> iters = ItersOf(domain_);
    for (size_t d = 0; d < iters.size(); ++d) {
      if (op_.getIteratorTypesArray()[d] == mlir::utils::IteratorType::reduction)
        iters[d].kind = IterKind::kReduction;
    }
    if (plan.kind) {
      b_.Reduce(name, iters, *plan.kind, dests[0], plan.values[0],
                plan.initial.empty() ? kNone : plan.initial[0]);
    } else if (plan.monoid != kNone) {
      b_.Reduce(name, iters, plan.monoid, dests, plan.values, plan.initial);
    } else {
      b_.Compute(name, iters, dests[0], plan.values[0]);
    }
  }

  mlir::linalg::GenericOp op_;
  Values& values_;
  Builder& b_;
  Scalars scalars_;
  std::vector<int64_t> extents_;  // of the operation's loops
  std::vector<int64_t> domain_;   // extents of the planned block: of some or all loops
  std::vector<int> place_;        // by loop: its position in domain_
  std::vector<mlir::cf::AssertOp> assertions_;
};

}  // namespace

mlir::LogicalResult TranslateGeneric(mlir::linalg::GenericOp op, Values& values) {
  return GenericTranslator(op, values, values.refusal()).Run();
}

}  // namespace kiln
