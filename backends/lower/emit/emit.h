// Emits a function for an entry of a loop plan. The sources emit_*.cc share this class. Private to lower.cc.
//
// The plan decides everything: loops that run become scf.for, unrolled loops are expanded, a vectorized loop
// becomes vector lanes, tests become scf.if. Later passes vectorize nothing. Indices are linear forms; each part is computed once,
// in the body of the loop that defines it (index_evaluator.h). Loads with no store between them are shared.
#pragma once

#include <map>
#include <optional>
#include <unordered_map>
#include <vector>

#include "absl/types/span.h"
#include "backends/lower/emit/emit_state.h"
#include "backends/lower/passes/lower_options.h"
#include "backends/lower/plan/loop_plan.h"
#include "backends/lower/plan/plan_context.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinOps.h"

namespace kiln {

// Types in registers and in memory. An i1 takes a byte in memory, and an index is an i64.
mlir::Type RegisterType(mlir::OpBuilder& b, DType type);
mlir::Type MemoryType(mlir::OpBuilder& b, DType type);

class Emitter {
 public:
  // Keeps references to program, plan and options. The program is the decomposed one that was planned.
  Emitter(const Program& program, const IndexPlan& plan, const LowerOptions& options, mlir::ModuleOp module);

  // Emits a function with `parameters`.
  void EmitFunction(const plan::Entry& entry, const std::vector<Id>& parameters);

 private:
  friend class DotCall;   // emit_dot.h
  friend class TileCall;  // emit_tile.h
  using Value = mlir::Value;
  using Values = llvm::SmallVector<Value, 4>;

  // A condition at the current place: known now, or one bit for all lanes, or one bit per lane.
  struct Test {
    std::optional<bool> known;
    Value uniform, mask, any;  // any: whether some lane may pass (null: yes)
  };
  // Values that are known before a region and restored after it.
  struct Saved {
    std::map<LoadKey, Value> loads;
    std::unordered_map<Id, Value> exprs;
  };

  // --- Methods of emit_function.cc, for functions and buffers.
  void DeclareBuffers(bool prepare);
  Value Global(Id buffer);
  Value Status();

  // --- Methods of emit_plan.cc, for the nodes of the plan.
  void Emit(const plan::Nodes& nodes);
  void EmitNode(const plan::Node& node);
  void EmitFor(const plan::Loop& loop, const plan::Nodes& body);
  void EmitSwitch(const plan::Switch& by, const plan::Node& node);
  void EmitLeaf(const plan::Leaf& leaf);
  void EmitInstance(const plan::Leaf& leaf, Value mask);
  void EmitPrefetch(const plan::Prefetch& prefetch);
  void EmitCall(const plan::Call& call);
  // Emits both sides of a condition, or only the first if the condition is null, that is, known to hold.
  void EmitIf(Value condition, llvm::function_ref<void()> holds,
              llvm::function_ref<void()> otherwise = nullptr);

  // --- Methods of emit_conditions.cc, for conditions.
  Test TestOf(int condition);
  // Emits the test that the conditions hold for all values of the loops that are not bound yet. Null if they are
  // known to hold.
  Value HoldsForAll(const std::vector<int>& conditions);
  Value InRange(const IndexValue& value, int64_t extent, int64_t least,
                int64_t most);  // of value + least .. value + most
  Value UpperBound(const plan::Loop& loop);
  Value And(Value a, Value b);

  // --- Methods of emit_expr.cc, for expressions.
  Value EmitExpr(Id expr, Value mask);
  Value EmitCombine(Id expr, const Values& left, const Values& right, bool sum);
  Value EmitWithin(Id expr, Value mask);
  Value Reduce(const Monoid& monoid, Values& lifts, Value mask);  // lanes into one per result
  Value Apply(const Expr& e, Value a, Value b, Value c);
  Value Marked(Value result);  // with fast-math, if the block has the annotation
  // Marks a sum, difference or product of floats as fusable.
  Value Contracted(Value result);
  Value Compare(const Expr& e, Value a, Value b, DType operands);
  Value Cast(Value a, DType from, DType to, bool as_unsigned);
  Value Constant(DType type, int64_t bits);
  Value Splat(mlir::Attribute scalar, mlir::Type type);
  Value AsVector(Value value);

  // --- Methods of emit_access.cc and others, for loads and stores.
  Value Load(Id buffer, const IndexSum& address, Value mask, Value otherwise);
  Value Gather(Id expr, Value mask);
  void Store(Id buffer, const IndexSum& address, Value value, Value mask, const plan::Store& how = {});
  void Forget(Id buffer);  // drops what was loaded from its memory
  void StoreStreaming(Id buffer, const IndexValue& at, Value stored);
  struct DelayedStore {
    int flush = 0;
    Id buffer = kNone;
    IndexValue at;
    Value stored;
  };
  void EmitFlush(int number);  // emit_transposed.cc
  void StoreLanes(Id buffer, const IndexValue& at, Value stored);
  void StoreTransposed(absl::Span<const DelayedStore> rows);
  void StoreRun(Id buffer, const IndexValue& at, Value from, int64_t first, int64_t count);
  Value Part(Value vector, int64_t first, int64_t count);
  Value LoadStrided(Id buffer, const IndexValue& at);  // emit_strided.cc
  Value LoadWindow(Id buffer, const IndexValue& first, int64_t width);
  // The physical address, according to the buffer's swizzle. Lanes that are then not neighbors are gathered and
  // scattered.
  IndexValue AddressOf(Id buffer, const IndexSum& address);
  Value FromMemory(Value value, DType type);
  Value ToMemory(Value value, DType type);
  Saved EnterRegion(bool loop);
  void LeaveRegion(Saved saved);

  // --- Methods of emit_index.cc, for indices.
  IndexValue Eval(const IndexSum& sum);
  // Emits the atoms with numbers from `before` on. In this order, LLVM's code has the fewest moves.
  void EmitAtoms(int before);
  void SetAtom(int atom, Value value);
  Value ValueOf(int atom);
  Value ValueOfLanes(int lane_atom);
  Value Apply(const AtomDefinition& definition, Value of, llvm::function_ref<Value(int64_t)> constant);
  Value Scalar(const IndexValue& value);  // of a value that is equal in all lanes
  Value Vector(const IndexValue& value);  // a vector of index
  Value Hoist(int level, std::vector<int64_t> key, llvm::function_ref<Value()> make);
  Value ConstantIndex(int64_t value);
  Value ConstantLanes(const std::vector<int64_t>& values, mlir::Type element);

  const Program& p_;
  const IndexPlan& plan_;
  const LowerOptions& options_;
  mlir::ModuleOp module_;
  mlir::OpBuilder b_;
  mlir::Location loc_;

  std::vector<Level> levels_;
  std::vector<Value> atoms_, lane_atoms_;  // by number: the values computed so far
  PlanContext context_;
  std::vector<Value> buffers_;           // by buffer; one value where they share memory
  std::vector<Id> allocated_;            // heap buffers to free
  const BlockPlan* block_ = nullptr;     // the block whose instance is emitted
  bool fast_ = false;                    // the block has the annotation fast-math
  std::unordered_map<Id, Value> exprs_;  // the block's values so far
  std::map<LoadKey, Value> loads_;       // loaded values that are still valid
  std::vector<DelayedStore> delayed_;    // stores that wait for their flush
};

}  // namespace kiln
