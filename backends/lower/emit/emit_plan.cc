// Emits the nodes of a loop plan.
#include <algorithm>

#include "absl/algorithm/container.h"
#include "backends/cpu/passes/outline_parallel.h"
#include "backends/lower/emit/emit.h"
#include "backends/lower/emit/emit_dot.h"
#include "backends/lower/emit/emit_tile.h"
#include "lang/base/check.h"
#include "lang/program/start.h"
#include "llvm/ADT/SmallPtrSet.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

namespace kiln {

void Emitter::Emit(const plan::Nodes& nodes) {
  for (const plan::Node& node : nodes) EmitNode(node);
}

void Emitter::EmitNode(const plan::Node& node) {
  const auto arm = [&](size_t i) { return [&, i] { Emit(node.arms[i]); }; };
  if (const auto* loop = node.As<plan::Loop>()) {
    const bool is_one = loop->run == plan::Run::kOne;
    const bool is_copies = is_one || loop->run == plan::Run::kUnrolled || loop->run == plan::Run::kLanes;
    if (!is_copies) return EmitFor(*loop, node.arms[0]);
    context_.ForEachCopy(*loop, [&](int64_t, int64_t) {
      Saved saved;
      if (is_one) saved = EnterRegion(false);
      Emit(node.arms[0]);
      if (is_one) LeaveRegion(std::move(saved));
    });
  } else if (const auto* branch = node.As<plan::Branch>()) {
    const Value holds = HoldsForAll(branch->tests);
    const auto otherwise = [&] {
      branch->decided ? context_.With(branch->tests, false, arm(1)) : Emit(node.arms[1]);
    };
    const auto then = [&] { context_.With(branch->tests, true, arm(0)); };
    node.arms.size() > 1 ? EmitIf(holds, then, otherwise) : EmitIf(holds, then);
  } else if (const auto* by = node.As<plan::Switch>()) {
    EmitSwitch(*by, node);
  } else if (const auto* first = node.As<plan::First>()) {
    Value at_first;
    for (const Id loop : first->loops)
      at_first = And(at_first, InRange(context_.indices().Of(loop), 1, 0, 0));
    EmitIf(at_first, arm(0), arm(1));
  } else if (const auto* leaf = node.As<plan::Leaf>()) {
    EmitLeaf(*leaf);
  } else if (const auto* call = node.As<plan::Call>()) {
    EmitCall(*call);
  } else if (const auto* prefetch = node.As<plan::Prefetch>()) {
    EmitPrefetch(*prefetch);
  } else if (const auto* flush = node.As<plan::Flush>()) {
    EmitFlush(flush->number);
  } else if (node.As<plan::Fence>() != nullptr) {
    mlir::LLVM::FenceOp::create(b_, loc_, mlir::LLVM::AtomicOrdering::seq_cst);
  } else {
    KILN_CHECK(false, "a sync on a CPU");
  }
}

void Emitter::EmitIf(Value condition, llvm::function_ref<void()> holds,
                     llvm::function_ref<void()> otherwise) {
  if (!condition) return holds();
  auto either = mlir::scf::IfOp::create(b_, loc_, condition, /*withElseRegion=*/static_cast<bool>(otherwise));
  mlir::OpBuilder::InsertionGuard guard(b_);
  const auto side = [&](mlir::Block* block, llvm::function_ref<void()> emit) {
    b_.setInsertionPointToStart(block);
    Saved saved = EnterRegion(false);
    emit();
    LeaveRegion(std::move(saved));
  };
  side(either.thenBlock(), holds);
  if (otherwise) side(either.elseBlock(), otherwise);
}

// Emits nested ifs: the first arm if the condition holds for its whole rest, or else the arm of the first value that
// the bound part equals.
void Emitter::EmitSwitch(const plan::Switch& by, const plan::Node& node) {
  const Value bound = by.values.size() > 1 ? Scalar(context_.BoundValue(by.condition)) : Value();
  const auto value_from = [&](auto& self, size_t i) -> void {
    const auto here = [&] {
      context_.WithBoundary(by.condition, by.values[i], [&] { Emit(node.arms[i + 1]); });
    };
    if (i + 1 == by.values.size()) return here();
    const Value equals = mlir::arith::CmpIOp::create(b_, loc_, mlir::arith::CmpIPredicate::eq, bound,
                                                     ConstantIndex(by.values[i]));
    EmitIf(equals, here, [&] { self(self, i + 1); });
  };
  EmitIf(
      HoldsForAll({by.condition}), [&] { context_.With({by.condition}, true, [&] { Emit(node.arms[0]); }); },
      [&] { value_from(value_from, 0); });
}

void Emitter::EmitFor(const plan::Loop& loop, const plan::Nodes& body) {
  const Value upper = UpperBound(loop);
  auto run = mlir::scf::ForOp::create(b_, loc_, ConstantIndex(0), upper ? upper : ConstantIndex(loop.count),
                                      ConstantIndex(1));
  const bool on_threads = loop.run == plan::Run::kThreads;
  if (on_threads) run->setAttr(kParallelAttribute, b_.getUnitAttr());
  mlir::OpBuilder::InsertionGuard guard(b_);
  b_.setInsertionPointToStart(run.getBody());
  levels_.push_back({run.getBody(), nullptr, {}});
  Saved saved = EnterRegion(true);
  context_.ForEachCopy(loop, [&](int64_t, int64_t) {
    SetAtom(context_.indices().num_atoms() - 1, run.getInductionVar());
    context_.With(loop.decided, true, [&] { Emit(body); });
  });
  LeaveRegion(std::move(saved));
  levels_.pop_back();
}

void Emitter::EmitPrefetch(const plan::Prefetch& prefetch) {
  const int64_t line = options_.costs.line_bytes / SizeOf(p_.buffers[prefetch.buffer].dtype);
  const auto emit = [&](auto& self, size_t i) -> void {
    if (i < prefetch.over.size()) {
      context_.ForEachCopy(prefetch.over[i], [&](int64_t, int64_t) { self(self, i + 1); });
      return;
    }
    IndexValue at = Eval(prefetch.address).Uniform();
    for (int64_t l = 0; l < prefetch.lines; ++l, at.constant += line) {
      mlir::memref::PrefetchOp::create(b_, loc_, buffers_[prefetch.buffer], mlir::ValueRange{Scalar(at)},
                                       prefetch.write, prefetch.locality, /*isDataCache=*/true);
    }
  };
  emit(emit, 0);
}

// Emits a call of an intrinsic as machine instructions.
void Emitter::EmitCall(const plan::Call& call) {
  if (auto dot = plan::FindDot(context_, options_.features, call)) return DotCall(*this, call, *dot).Emit();
  auto tile = plan::FindTile(context_, options_.features, call);
  KILN_CHECK(tile.has_value(), "a call without an instruction");
  TileCall(*this, *tile).Emit();
}

void Emitter::EmitLeaf(const plan::Leaf& leaf) {
  block_ = &plan_.blocks.at(leaf.block);
  Value uniform;
  std::vector<int> lane_conditions;
  for (const int condition : leaf.asks) {
    const Test test = TestOf(condition);
    if (test.known == false) return;
    uniform = And(And(uniform, test.uniform), test.any);
    if (test.mask) lane_conditions.push_back(condition);
  }
  exprs_.clear();
  EmitIf(uniform, [&] {
    Value mask;
    for (const int condition : lane_conditions) mask = And(mask, TestOf(condition).mask);
    EmitInstance(leaf, mask);
  });
}

void Emitter::EmitInstance(const plan::Leaf& leaf, Value mask) {
  const BlockNode& block = p_.block(leaf.block);
  const BlockPlan& indices = *block_;
  const auto dests = p_.Accesses(block.dests);
  fast_ = leaf.fast;
  const auto store = [&](const Values& stored) {
    for (size_t r = 0; r < dests.size(); ++r)
      Store(dests[r].buffer, indices.dests[r], stored[r], mask,
            leaf.stores.empty() ? plan::Store() : leaf.stores[r]);
  };
  Values values;
  for (const Id value : p_.List(block.values)) values.push_back(EmitExpr(value, mask));
  if (block.monoid != kNone) {
    const Monoid& monoid = p_.monoids[block.monoid];
    const bool across = context_.lanes() > 0 &&
                        absl::c_linear_search(indices.reduction_loops, context_.vector_loop()) &&
                        Eval(indices.dests[0]).uniform();
    if (across) Reduce(monoid, values, mask);
    if (across) mask = Value();
    KILN_CHECK(block.accumulates || leaf.starts.has_value(), "a reduction that begins nowhere");
    const bool starts = !block.accumulates && *leaf.starts;
    if (starts && StartsNeutral(p_, block)) return store(values);
    Values before, after;
    for (size_t r = 0; r < dests.size(); ++r) {
      const Expr& identity = p_.exprs[p_.List(monoid.identity)[r]];
      before.push_back(starts ? Constant(identity.dtype, identity.Number())
                              : Load(dests[r].buffer, indices.dests[r], mask, Value()));
    }
    const bool sum = monoid.kind == Monoid::Kind::kSum;
    for (const Id expr : p_.List(monoid.combine)) after.push_back(EmitCombine(expr, before, values, sum));
    llvm::SmallPtrSet<mlir::Operation*, 2> products;
    for (const Value lift : values) {
      if (auto product = lift.getDefiningOp<mlir::arith::MulFOp>()) products.insert(product);
    }
    exprs_.clear();
    for (mlir::Operation* product : products) {
      if (product->use_empty()) product->erase();  // replaced by a multiply-add
    }
    values = std::move(after);
  }
  store(values);
}

}  // namespace kiln
