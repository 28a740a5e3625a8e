#include "backends/lower/emit/emit_expr.h"

#include "absl/algorithm/container.h"
#include "backends/lower/emit/emit_conditions.h"
#include "backends/lower/emit/emit_op.h"
#include "backends/lower/emit/emit_types.h"
#include "lang/base/check.h"
#include "lang/program/start.h"
#include "llvm/ADT/SmallPtrSet.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/TypeUtilities.h"

namespace kiln {
namespace {

void SetFlags(mlir::Operation* op, mlir::arith::FastMathFlags flags) {
  op->setAttr("fastmath", mlir::arith::FastMathFlagsAttr::get(op->getContext(), flags));
}

}  // namespace

InstanceEmitter::InstanceEmitter(MemoryEmitter& memory, const plan::Leaf& leaf)
    : memory_(memory),
      code_(memory.code()),
      b_(code_.b()),
      p_(code_.program()),
      leaf_(leaf),
      block_(code_.plan().blocks.at(leaf.block)) {}

void InstanceEmitter::Emit(Value mask) {
  Values values = EmitValues(mask);
  Store(std::move(values), mask);
}

// Emits code in which threads of a GPU combine their values of a reduction, and one stores the result. Threads and
// lanes without an instance contribute the neutral element.
void InstanceEmitter::EmitAcross(AcrossThreads& threads, Value active, Value mask, Value results) {
  const Monoid& monoid = p_.monoids[p_.block(leaf_.block).monoid];
  const auto values_of_thread = [&] {
    Values values = EmitValues(mask);
    for (size_t r = 0; r < values.size() && HasLanes(); ++r) {
      values[r] = code_.AsVector(values[r]);
      if (mask) values[r] = mlir::arith::SelectOp::create(b_, mask, values[r], Neutral(monoid, r));
    }
    return values;
  };
  Values values;
  if (!active) {
    values = values_of_thread();
  } else {
    Values neutral;
    for (size_t r = 0; r < static_cast<size_t>(monoid.identity.count); ++r)
      neutral.push_back(Neutral(monoid, r));
    auto branch = mlir::scf::IfOp::create(b_, mlir::ValueRange(neutral).getTypes(), active,
                                          /*addThenBlock=*/true, /*addElseBlock=*/true);
    mlir::OpBuilder::InsertionGuard guard(b_);
    b_.setInsertionPointToEnd(branch.thenBlock());
    memory_.loads().InRegion([&] { mlir::scf::YieldOp::create(b_, values_of_thread()); });
    exprs_.clear();
    b_.setInsertionPointToEnd(branch.elseBlock());
    mlir::scf::YieldOp::create(b_, neutral);
    values.assign(branch.getResults().begin(), branch.getResults().end());
  }
  const Value stores = threads.Combine(
      values, [&](const Values& left, const Values& right) { return Fold(monoid, left, right); });
  EmitIf(code_, memory_.loads(), stores, [&] { Store(values, HasLanes() ? results : Value()); });
}

InstanceEmitter::Values InstanceEmitter::EmitValues(Value& mask) {
  const BlockNode& block = p_.block(leaf_.block);
  Values values;
  for (const Id value : p_.List(block.values)) values.push_back(EmitExpr(value, mask));
  if (block.monoid != kNone && IsReducedInLanes()) {
    Reduce(p_.monoids[block.monoid], values, mask);
    mask = Value();
  }
  return values;
}

void InstanceEmitter::Store(Values values, Value mask) {
  const BlockNode& block = p_.block(leaf_.block);
  if (block.monoid != kNone) {
    const Monoid& monoid = p_.monoids[block.monoid];
    KILN_CHECK(block.accumulates || leaf_.starts.has_value(), "a reduction that begins nowhere");
    const bool starts = !block.accumulates && *leaf_.starts;
    if (!starts || !StartsNeutral(p_, block)) Accumulate(monoid, starts, values, mask);
  }
  const auto dests = p_.Accesses(block.dests);
  for (size_t r = 0; r < dests.size(); ++r)
    memory_.Store(dests[r].buffer, block_.dests[r], values[r], mask,
                  leaf_.stores.empty() ? plan::Store() : leaf_.stores[r]);
}

mlir::Value InstanceEmitter::EmitExpr(Id id, Value mask) {
  const auto known = exprs_.find(id);
  if (known != exprs_.end()) return known->second;
  const Expr& e = p_.exprs[id];
  Value result;
  switch (e.op) {
    case Op::kConstant:
      return code_.Constant(e.dtype, e.Number());
    case Op::kIndex:
      result = EmitIndex(memory_.indices().Eval(block_.values.at(id)));
      break;
    case Op::kLoad:
      result = memory_.Load(e.AsLoad().buffer, block_.addresses.at(id), mask, Value());
      break;
    case Op::kGather:
      result = EmitGather(id, mask);
      break;
    case Op::kArg:
      KILN_CHECK(false, "an operand of a monoid in the body of a block");
      break;
    case Op::kWithin:
      result = EmitWithin(id, mask);
      break;
    default: {
      Value operands[3];
      for (size_t i = 0; i < e.Operands().size(); ++i) operands[i] = EmitExpr(e.Operands()[i], mask);
      auto& [a, b, c] = operands;
      if (IsVector(mask) && DividesIntegers(e)) {  // outside of the mask, b may be 0
        b = mlir::arith::SelectOp::create(b_, mask, code_.AsVector(b),
                                          code_.AsVector(code_.Constant(e.dtype, 1)));
      }
      result = Marked(EmitOperation(code_, e, a, b, c));
      break;
    }
  }
  exprs_.emplace(id, result);
  return result;
}

mlir::Value InstanceEmitter::EmitIndex(const IndexValue& index) {
  const mlir::Type i64 = b_.getI64Type();
  if (index.uniform()) return mlir::arith::IndexCastOp::create(b_, i64, memory_.indices().Scalar(index));
  return mlir::arith::IndexCastOp::create(b_, mlir::VectorType::get({code_.lanes()}, i64),
                                          memory_.indices().Vector(index));
}

// Emits a gather: computes its indices, clamps computed ones to their dimensions, and loads. A new level after the
// indices holds the parts of the address that depend on them.
mlir::Value InstanceEmitter::EmitGather(Id id, Value mask) {
  const Expr& e = p_.exprs[id];
  const std::vector<Id> index = p_.GatherIndex(e);
  const std::vector<Id>& marks = block_.gathers.at(id);
  mlir::Block* block = b_.getInsertionBlock();
  mlir::Operation* last = nullptr;
  for (size_t d = 0; d < index.size(); ++d) {
    if (marks[d] == kNone) continue;
    const int64_t most = p_.marks[marks[d]].extent.Known() - 1;
    Value value = EmitExpr(index[d], mask);
    const auto constant = [&](int64_t number) {
      const Value scalar = code_.Constant(DType::kIndex, number);
      return IsVector(value) ? code_.AsVector(scalar) : scalar;
    };
    value = mlir::arith::MaxSIOp::create(b_, value, constant(0));
    value = mlir::arith::MinSIOp::create(b_, value, constant(most));
    value = mlir::arith::IndexCastOp::create(b_, WithElement(value, b_.getIndexType()), value);
    last = value.getDefiningOp();
    IndexValue computed;
    if (IsVector(value)) {
      const int atom = code_.indices().AddLaneAtom({0, most});
      memory_.indices().SetLaneAtom(atom, value);
      computed = IndexValue::OfLaneAtom(atom);
    } else {
      const int atom = code_.indices().AddAtom(code_.levels(), {0, most});
      memory_.indices().SetAtom(atom, value);
      computed = IndexValue::OfAtom(atom);
    }
    code_.indices().BindMark(marks[d], std::move(computed));
  }
  Value result;
  const auto load = [&] {
    result = memory_.Load(e.AsGather().buffer, block_.addresses.at(id), mask, Value());
  };
  last == nullptr ? load() : code_.InLevel(block, last, load);
  return result;
}

mlir::Value InstanceEmitter::EmitWithin(Id id, Value mask) {
  const Expr& e = p_.exprs[id];
  const Id otherwise = e.AsWithin().otherwise;
  Value uniform, lanes;
  for (const int condition : block_.within.at(id)) {
    const ConditionTest test = TestOf(memory_.indices(), condition);
    if (test.known == false) return EmitExpr(otherwise, mask);
    if (test.known == true) continue;
    uniform = And(code_, And(code_, uniform, test.uniform), test.any);
    lanes = And(code_, lanes, test.mask);
  }
  if (!uniform) return EmitInside(id, mask, lanes);

  const mlir::Type element = RegisterType(b_, e.dtype);
  const mlir::Type type =
      code_.lanes() > 0 ? mlir::Type(mlir::VectorType::get({code_.lanes()}, element)) : element;
  auto branch = mlir::scf::IfOp::create(b_, mlir::TypeRange{type}, uniform, /*addThenBlock=*/true,
                                        /*addElseBlock=*/true);
  mlir::OpBuilder::InsertionGuard guard(b_);
  const auto fill = [&](mlir::Block* block, llvm::function_ref<Value()> value_of) {
    b_.setInsertionPointToEnd(block);
    const Value value = InRegion([&] {
      const Value inside = value_of();
      return code_.lanes() > 0 ? code_.AsVector(inside) : inside;
    });
    mlir::scf::YieldOp::create(b_, value);
  };
  fill(branch.thenBlock(), [&] { return EmitInside(id, mask, lanes); });
  fill(branch.elseBlock(), [&] { return EmitExpr(otherwise, mask); });
  return branch.getResult(0);
}

// Emits the value of a kWithin expression, which has one value inside bounds and another outside, where all tests hold
// that are equal in all vector lanes. Lanes that fail the test `lanes` get the value for outside.
mlir::Value InstanceEmitter::EmitInside(Id within, Value mask, Value lanes) {
  const auto [marks, inner, otherwise] = p_.exprs[within].AsWithin();
  if (!lanes) return EmitExpr(inner, mask);
  const Value outside = code_.AsVector(EmitExpr(otherwise, mask));
  const Expr& a = p_.exprs[inner];
  const Value narrowed = And(code_, mask, lanes);
  if (a.op == Op::kLoad) {
    const Value loaded = memory_.Load(a.AsLoad().buffer, block_.addresses.at(inner), narrowed, outside);
    if (IsVector(loaded) && !mask) return loaded;
    return mlir::arith::SelectOp::create(b_, lanes, code_.AsVector(loaded), outside);
  }
  const Value value = InRegion([&, inner = inner] { return code_.AsVector(EmitExpr(inner, narrowed)); });
  return mlir::arith::SelectOp::create(b_, lanes, value, outside);
}

mlir::Value InstanceEmitter::InRegion(llvm::function_ref<Value()> emit) {
  std::unordered_map<Id, Value> before = exprs_;
  Value value;
  memory_.loads().InRegion([&] { value = emit(); });
  exprs_ = std::move(before);
  return value;
}

mlir::Value InstanceEmitter::Marked(Value result) {
  mlir::Operation* op = result.getDefiningOp();
  if (leaf_.fast && op != nullptr && mlir::isa<mlir::math::MathDialect>(op->getDialect()) &&
      mlir::isa<mlir::FloatType>(mlir::getElementTypeOrSelf(result)))
    SetFlags(op, mlir::arith::FastMathFlags::afn);
  return result;
}

bool InstanceEmitter::IsReducedInLanes() {
  return code_.lanes() > 0 && absl::c_linear_search(block_.reduction_loops, code_.context().vector_loop()) &&
         memory_.indices().Eval(block_.dests[0]).uniform();
}

bool InstanceEmitter::HasLanes() { return code_.lanes() > 0 && !IsReducedInLanes(); }

mlir::Value InstanceEmitter::Neutral(const Monoid& monoid, size_t result) {
  const Value neutral = code_.Constant(p_.exprs[p_.List(monoid.identity)[result]].dtype,
                                       NeutralBits(p_, monoid, static_cast<int>(result)));
  return HasLanes() ? code_.AsVector(neutral) : neutral;
}

// Replaces the values by their combination with the values before: those that the results hold, or the identity if the
// reduction starts here. With LowerOptions::contract, a sum adds a product of floats by a multiply-add.
void InstanceEmitter::Accumulate(const Monoid& monoid, bool starts, Values& values, Value mask) {
  const auto dests = p_.Accesses(p_.block(leaf_.block).dests);
  Values before, after;
  for (size_t r = 0; r < dests.size(); ++r) {
    const Expr& identity = p_.exprs[p_.List(monoid.identity)[r]];
    before.push_back(starts ? code_.Constant(identity.dtype, identity.Number())
                            : memory_.Load(dests[r].buffer, block_.dests[r], mask, Value()));
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

mlir::Value InstanceEmitter::EmitCombine(Id id, const Values& left, const Values& right, bool sum) {
  const Expr& e = p_.exprs[id];
  if (e.op == Op::kArg)
    return e.Number() < static_cast<int64_t>(left.size()) ? left[e.Number()]
                                                          : right[e.Number() - left.size()];
  if (e.op == Op::kConstant) return code_.Constant(e.dtype, e.Number());
  Value operands[3];
  for (size_t i = 0; i < e.Operands().size(); ++i)
    operands[i] = EmitCombine(e.Operands()[i], left, right, sum);
  auto& [a, b, c] = operands;
  if (sum && code_.options().contract && e.op == Op::kAdd && IsFloat(e.dtype)) {
    auto wide = b.getDefiningOp<mlir::vector::BroadcastOp>();
    if (auto product = (wide ? wide.getSource() : b).getDefiningOp<mlir::arith::MulFOp>())
      return EmitOperation(code_, {Op::kFma, e.dtype}, product.getLhs(), product.getRhs(), a);
  }
  if (!IsFloat(e.dtype) || (e.op != Op::kMax && e.op != Op::kMin))
    return Marked(EmitOperation(code_, e, a, b, c));
  // Emits a maximum or minimum of floats with the accumulator as its second operand. Instructions of x86 return their
  // second operand if one of the two is NaN, so only the first operand needs a test for NaN. The flag nsz leaves open
  // whether 0 or -0 is greater.
  const Value extreme = EmitOperation(code_, e, b, a, c);
  SetFlags(extreme.getDefiningOp(), mlir::arith::FastMathFlags::nsz);
  return extreme;
}

InstanceEmitter::Values InstanceEmitter::Fold(const Monoid& monoid, const Values& left, const Values& right) {
  Values result;
  for (const Id expr : p_.List(monoid.combine)) result.push_back(EmitCombine(expr, left, right, false));
  return result;
}

// Combines the lanes of each vector into one scalar: first the two halves, while the number of lanes is even and above
// 2, then the remaining lanes one by one. Lanes outside of the mask count as neutral elements.
void InstanceEmitter::Reduce(const Monoid& monoid, Values& lifts, Value mask) {
  const auto identity = p_.List(monoid.identity);
  for (size_t r = 0; r < lifts.size(); ++r) {
    lifts[r] = code_.AsVector(lifts[r]);
    if (mask) {
      const Value neutral = code_.AsVector(
          code_.Constant(p_.exprs[identity[r]].dtype, NeutralBits(p_, monoid, static_cast<int>(r))));
      lifts[r] = mlir::arith::SelectOp::create(b_, mask, lifts[r], neutral);
    }
  }
  int64_t count = code_.lanes();
  for (; count > 2 && count % 2 == 0; count /= 2) {
    llvm::SmallVector<int64_t> first, second;
    for (int64_t i = 0; i < count / 2; ++i) {
      first.push_back(i);
      second.push_back(i + count / 2);
    }
    Values low, high;
    for (const Value v : lifts) {
      low.push_back(mlir::vector::ShuffleOp::create(b_, v, v, first));
      high.push_back(mlir::vector::ShuffleOp::create(b_, v, v, second));
    }
    lifts = Fold(monoid, low, high);
  }
  const auto lane = [&](int64_t i) {
    Values result;
    for (const Value v : lifts)
      result.push_back(mlir::vector::ExtractOp::create(b_, v, llvm::ArrayRef<int64_t>{i}));
    return result;
  };
  Values total = lane(0);
  for (int64_t i = 1; i < count; ++i) total = Fold(monoid, total, lane(i));
  lifts = total;
}

}  // namespace kiln
