// Emits the tree: loops that run, unrolled loops, vector lanes, and the instances of blocks.
#include <algorithm>
#include <bit>

#include "absl/algorithm/container.h"
#include "backends/cpu/passes/outline_parallel.h"
#include "backends/lower/emit/emit.h"
#include "backends/lower/emit/emit_dot.h"
#include "backends/lower/emit/emit_prefetch.h"
#include "backends/lower/emit/emit_tile.h"
#include "backends/lower/passes/unrolled.h"
#include "lang/analysis/annotations.h"
#include "lang/analysis/bindings.h"
#include "lang/analysis/dataflow.h"
#include "lang/analysis/loops.h"
#include "lang/base/check.h"
#include "lang/program/start.h"
#include "lang/schedule/lanes.h"
#include "llvm/ADT/SmallPtrSet.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

namespace kiln {
namespace {

// True if the vectorized loop reduces into more than one element; such lanes can be combined neither in order
// nor by a tree.
bool ReducesToSeveral(const Program& p, Id loop) {
  const std::vector<Id> blocks = BlocksBelow(p, loop);
  return std::any_of(blocks.begin(), blocks.end(), [&](Id block) {
    const LoopUse use = UseOf(p, block, loop);
    return p.block(block).monoid != kNone && use.spatial && use.reduction;
  });
}

// How many lanes to emit at once: all lanes, if they fill a power of two of vectors, otherwise one vector.
// LLVM keeps neither 24 floats nor 14 strided ones in registers, but spills their sums. Lanes that reduce
// into one element stay together.
int64_t LanesAtOnce(const Program& p, Id loop, int64_t vector_bytes) {
  const int64_t lanes = p.loop(loop).extent.Known();
  const std::vector<Id> blocks = BlocksBelow(p, loop);
  const auto reduces = [&](Id block) { return UseOf(p, block, loop).reduction; };
  const int64_t vector = std::max<int64_t>(1, vector_bytes / WidestResult(p, blocks));
  const bool whole = lanes % vector == 0 && std::has_single_bit(static_cast<uint64_t>(lanes / vector));
  return lanes <= vector || whole || std::any_of(blocks.begin(), blocks.end(), reduces) ? lanes : vector;
}

}  // namespace

void Emitter::EmitNode(Id node) { p_.IsLoop(node) ? EmitLoop(node) : EmitBlock(node); }

void Emitter::EmitChildren(Id node) {
  for (Id child = p_.nodes[node].first; child != kNone; child = p_.nodes[child].next) {
    Prefetcher(*this).Tiles(child);
    const Id block = StartsIn(child);
    block == kNone ? EmitNode(child) : EmitStart(child, block);
  }
}

// The only block of a nest inside all of its reduction loops, if it is a reduction without initialization;
// else kNone.
Id Emitter::StartsIn(Id nest) const {
  if (starts_.has_value()) return kNone;
  const std::vector<Id> blocks = p_.IsBlock(nest) ? std::vector<Id>{nest} : BlocksBelow(p_, nest);
  if (blocks.size() != 1) return kNone;
  const BlockNode& block = p_.block(blocks[0]);
  const std::vector<Id>& loops = plan_.blocks.at(blocks[0]).reduction_loops;
  const bool below = std::all_of(loops.begin(), loops.end(), [&](Id loop) {
    return loops_.contains(loop) || p_.loop(loop).extent.Known() == 1;
  });
  return block.monoid != kNone && !block.accumulates && below ? blocks[0] : kNone;
}

// Emits: if (the reduction loops are at 0) { store } else { combine }
void Emitter::EmitStart(Id nest, Id block) {
  Value first;
  starts_ = true;
  for (const Id loop : plan_.blocks.at(block).reduction_loops) {
    const auto at = loops_.find(loop);
    if (at == loops_.end()) continue;
    if (at->second.is_constant()) {
      *starts_ &= at->second.constant == 0;
    } else {
      first = And(first, InRange(at->second, 1, 0, 0));
    }
  }
  if (!*starts_ || !first) {
    EmitNode(nest);
  } else {
    mlir::OpBuilder::InsertionGuard guard(b_);
    auto either = mlir::scf::IfOp::create(b_, loc_, first, /*withElseRegion=*/true);
    for (const bool starts : {true, false}) {
      b_.setInsertionPointToStart(starts ? either.thenBlock() : either.elseBlock());
      Saved inside = EnterRegion(false);
      starts_ = starts;
      EmitNode(nest);
      LeaveRegion(std::move(inside));
    }
  }
  starts_.reset();
}

void Emitter::EmitLoop(Id loop) {
  const LoopNode& node = p_.loop(loop);
  const int64_t extent = node.extent.Known();
  if (EmitCall(loop)) return;
  if (extent == 1) {
    loops_[loop] = IndexValue::Constant(0);
    EmitBody(loop);
  } else if ((node.kind == LoopKind::kUnrolled && !RunsInstead(loop)) ||
             (node.kind == LoopKind::kVectorized && ReducesToSeveral(p_, loop))) {
    for (int64_t i = 0; i < extent; ++i) {
      loops_[loop] = IndexValue::Constant(i);
      EmitChildren(loop);
    }
  } else if (node.kind == LoopKind::kVectorized) {
    KILN_CHECK(lanes_ == 0, "a vectorized loop inside another");
    vector_loop_ = loop;
    const int64_t most =
        options_.policies.Has(Policy::kWholeVectors) ? LanesAtOnce(p_, loop, options_.vector_bytes) : extent;
    for (int64_t begin = 0; begin < extent; begin += most) {
      lanes_ = std::min(most, extent - begin);
      loops_[loop] = lanes_ == 1 ? IndexValue::Constant(0) : IndexValue::Lanes(lanes_);
      loops_[loop].constant = begin;
      if (lanes_ == 1) lanes_ = 0;
      EmitChildren(loop);
    }
    lanes_ = 0;
    vector_loop_ = kNone;
  } else {
    EmitSerial(loop);
  }
  loops_.erase(loop);
}

// Emits a call of an intrinsic as machine instructions. Returns false if the machine has none for it.
bool Emitter::EmitCall(Id outer) {
  const auto call = calls_.find(outer);
  if (call == calls_.end()) return false;
  EmitPending([](const PendingStore&) { return true; });
  return DotCall(*this, outer).Emit(call->second) || TileCall(*this, outer).Emit(call->second);
}

// True if an unrolled loop may stay a loop here: for incomplete tiles that is shorter.
bool Emitter::RunsInstead(Id loop) const {
  return in_remainder_ && lanes_ == 0 && !IndexesRegisters(p_, plan_, registers_, loop);
}

void Emitter::EmitSerial(Id loop) {
  std::vector<int> established;
  const Value upper = TrimmedUpper(loop, established);
  const int64_t extent = p_.loop(loop).extent.Known();
  const int64_t wanted = in_remainder_ ? 1 : AnnotationOf(p_, p_.loop(loop).annotations, kUnrolledSteps);
  const bool divides = wanted > 1 && extent % wanted == 0;
  const int64_t steps = divides && !upper && p_.loop(loop).kind == LoopKind::kSerial ? wanted : 1;
  const Value end = upper ? upper : ConstantIndex(extent / steps);
  auto run = mlir::scf::ForOp::create(b_, loc_, ConstantIndex(0), end, ConstantIndex(1));
  if (RunsOnThreads(p_, loop)) run->setAttr(kParallelAttribute, b_.getUnitAttr());
  mlir::OpBuilder::InsertionGuard guard(b_);
  b_.setInsertionPointToStart(run.getBody());
  levels_.push_back({run.getBody(), nullptr, {}});
  const int atom =
      AddAtom(run.getInductionVar(), static_cast<int>(levels_.size()) - 1, {0, extent / steps - 1});
  Saved saved = EnterRegion(true);
  for (const int condition : established) known_[condition] = true;
  for (int64_t step = 0; step < steps; ++step) {
    // The index is visibly a multiple of `steps` plus `step`, so that a remainder by a divisor of `steps`
    // vanishes.
    loops_[loop] = IndexValue::Constant(step);
    loops_[loop].Add(IndexValue::OfAtom(atom), steps);
    EmitBody(loop);
  }
  for (const int condition : established) known_[condition].reset();
  EmitPendingIn(run);
  if (RunsOnThreads(p_, loop)) Fence();
  LeaveRegion(std::move(saved));
  levels_.pop_back();
}

Emitter::Deciding Emitter::DecidingIn(Id loop, const std::vector<Id>& blocks) const {
  Deciding deciding;
  for (const int condition : OpenConditions(blocks)) {
    if (HoldsAlike(condition) && GuardsAll(condition, blocks)) {
      deciding.exact.push_back(condition);
      continue;
    }
    const bool waits = absl::c_any_of(plan_.conditions[condition].loops, [&](Id l) {
      return loops_.count(l) == 0 && !IsFullyUnrolled(p_.loop(l));
    });
    if (waits || (SeldomHolds(condition) && !Drops(blocks, condition))) continue;
    deciding.versioned.push_back(condition);
    deciding.by_loop |= absl::c_linear_search(plan_.conditions[condition].loops, loop);
  }
  return deciding;
}

// Marks these conditions as known below the test that it returns: the test that all of them hold. Null if no
// test is needed.
mlir::Value Emitter::Establish(const std::vector<int>& exact) {
  Value passes;
  for (const int condition : exact) {
    IndexSum bound;
    const Interval rest = Bounds(UnboundPart(condition, &bound), Extents(p_));
    const IndexValue value = Assumed(condition, Eval(bound));
    if (!value.uniform()) continue;
    known_[condition] = !value.is_constant() || Holds(condition, value.constant, rest);
    if (known_[condition] == true)
      passes = And(passes, InRange(value, plan_.conditions[condition].extent, rest.min, rest.max));
  }
  return passes;
}

// Emits two versions of the children:
//   if (the tile is complete) { children without conditions } else { children with conditions }
void Emitter::EmitEither(Id loop, Value complete, const std::vector<int>& versioned) {
  const bool decided = versioned.size() == 1 && HoldsAlike(versioned[0]);
  auto either = mlir::scf::IfOp::create(b_, loc_, complete, /*withElseRegion=*/true);
  for (const bool holds : {true, false}) {
    b_.setInsertionPointToStart(holds ? either.thenBlock() : either.elseBlock());
    Saved inside = EnterRegion(false);
    for (const int condition : versioned) {
      if (holds || decided) known_[condition] = holds;
    }
    in_remainder_ = !holds && !decided;
    EmitChildren(loop);
    in_remainder_ = false;
    for (const int condition : versioned) known_[condition].reset();
    LeaveRegion(std::move(inside));
  }
}

// Emits the children of a loop whose variable has a value, behind the conditions that this value decides:
//   if (exact conditions hold) { a version for complete tiles; others for boundaries or incomplete tiles }
void Emitter::EmitBody(Id loop) {
  const std::vector<Id> blocks = BlocksBelow(p_, loop);
  const auto [exact, versioned, by_loop] = DecidingIn(loop, blocks);
  mlir::OpBuilder::InsertionGuard guard(b_);
  const Value passes = Establish(exact);
  Saved saved = EnterRegion(false);
  if (passes) b_.setInsertionPointToStart(mlir::scf::IfOp::create(b_, loc_, passes, false).thenBlock());

  Value complete;
  std::vector<BoundaryVersions> edges;
  if (by_loop && !in_remainder_ && versions_ < options_.costs.nest_versions && lanes_ == 0 &&
      !Postponed(loop, versioned)) {
    edges = VersionsOf(blocks, versioned);
    for (const int condition : versioned) complete = And(complete, HoldsForAll(condition));
  }
  if (!complete) {
    EmitChildren(loop);
  } else {
    ++versions_;
    edges.empty() ? EmitEither(loop, complete, versioned) : EmitBoundaryVersions(loop, edges);
    --versions_;
  }
  for (const int condition : exact) known_[condition].reset();
  LeaveRegion(std::move(saved));
}

void Emitter::EmitBlock(Id block) {
  const BlockPlan& plan = plan_.blocks.at(block);
  Value uniform;
  std::vector<int> lane_conditions;
  for (const int condition : plan.guards) {
    const Test test = TestOf(condition);
    if (test.known == false) return;
    if (test.known == true) continue;
    uniform = And(And(uniform, test.uniform), test.any);
    if (test.mask) lane_conditions.push_back(condition);
  }
  mlir::OpBuilder::InsertionGuard guard(b_);
  exprs_.clear();
  Saved saved = EnterRegion(false);
  if (uniform) b_.setInsertionPointToStart(mlir::scf::IfOp::create(b_, loc_, uniform, false).thenBlock());
  Value mask;
  for (const int condition : lane_conditions) mask = And(mask, TestOf(condition).mask);
  block_ = &plan;
  EmitInstance(block, mask);
  EmitChildren(block);
  if (uniform) LeaveRegion(std::move(saved));
}

void Emitter::EmitInstance(Id id, Value mask) {
  const BlockNode& block = p_.block(id);
  const BlockPlan& plan = *block_;
  const auto dests = p_.Accesses(block.dests);
  instance_ = id;
  fast_ = AnnotationOf(p_, block.annotations, kFastMath) != 0;
  streams_ = AnnotationOf(p_, block.annotations, kNonTemporal) != 0;
  const auto store = [&](const Values& stored) {
    for (size_t r = 0; r < dests.size(); ++r) Store(dests[r].buffer, plan.dests[r], stored[r], mask);
  };
  Values values;
  for (const Id value : p_.List(block.values)) values.push_back(EmitExpr(value, mask));
  if (block.monoid != kNone) {
    const Monoid& monoid = p_.monoids[block.monoid];
    const bool across = lanes_ > 0 && absl::c_linear_search(plan.reduction_loops, vector_loop_) &&
                        Eval(plan.dests[0]).uniform();
    if (across) Reduce(monoid, values, mask);
    if (across) mask = Value();
    KILN_CHECK(block.accumulates || starts_.has_value(), "a reduction that begins nowhere");
    const bool starts = !block.accumulates && *starts_;
    if (starts && StartsNeutral(p_, block)) return store(values);
    Values before, after;
    for (size_t r = 0; r < dests.size(); ++r) {
      const Expr& identity = p_.exprs[p_.List(monoid.identity)[r]];
      before.push_back(starts ? Constant(identity.dtype, identity.Number())
                              : Load(dests[r].buffer, plan.dests[r], mask, Value()));
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
