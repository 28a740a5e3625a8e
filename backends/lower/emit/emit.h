// Emits the body of one function from a planned Program. The sources emit_*.cc share this class. Private to
// lower.cc.
//
// The program decides everything: serial loops become scf.for, unrolled loops are expanded, a vectorized loop
// becomes vector lanes. Later passes vectorize nothing. Indices are linear forms; each part is computed once,
// in the body of the loop that defines it (index_value.h). Loads with no store between them are shared.
#pragma once

#include <map>
#include <optional>
#include <unordered_map>
#include <vector>

#include "absl/types/span.h"
#include "backends/lower/emit/emit_state.h"
#include "backends/lower/emit/index_value.h"
#include "backends/lower/passes/lower_options.h"
#include "backends/lower/passes/plan.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinOps.h"

namespace kiln {

// Types in registers and in memory. An i1 takes a byte in memory, and an index is an i64.
mlir::Type RegisterType(mlir::OpBuilder& b, DType type);
mlir::Type MemoryType(mlir::OpBuilder& b, DType type);

class Emitter {
 public:
  // `calls`: the intrinsics of calls, by the outermost loop inside each call.
  Emitter(const Program& program, const Plan& plan, const std::unordered_map<Id, std::string>& calls,
          const LowerOptions& options, mlir::ModuleOp module);

  // Emits a function NAME with `parameters`, whose body is one phase: the prepared nests, or the others.
  void EmitFunction(const std::string& name, const std::vector<Id>& parameters, bool prepare);

 private:
  friend class DotCall;     // emit_dot.h
  friend class Prefetcher;  // emit_prefetch.h
  friend class TileCall;    // emit_tile.h
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
  void DeclareBuffers(const std::vector<Id>& blocks);
  Value Global(Id buffer);
  Value Status();

  // --- Methods of emit_loops.cc, for loops and blocks.
  void EmitNode(Id node);
  void EmitChildren(Id node);
  Id StartsIn(Id nest) const;
  void EmitStart(Id nest, Id block);
  void EmitLoop(Id loop);
  bool EmitCall(Id outer);
  bool RunsInstead(Id loop) const;
  void EmitSerial(Id loop);
  // The conditions that the value of a loop may decide for all blocks below it. An `exact` condition has the
  // same answer for all inner iterations; a `versioned` one may differ, so it needs two versions of the code.
  struct Deciding {
    std::vector<int> exact, versioned;
    bool by_loop = false;  // some condition of `versioned` depends on the loop
  };
  Deciding DecidingIn(Id loop, const std::vector<Id>& blocks) const;
  Value Establish(const std::vector<int>& exact);
  Value HoldsForAll(int condition);  // null if it is known to
  void EmitEither(Id loop, Value complete, const std::vector<int>& versioned);
  void EmitBody(Id loop);
  void EmitBlock(Id block);
  void EmitInstance(Id block, Value mask);

  // --- Methods of emit_guards.cc, for conditions.
  Test TestOf(int condition);
  Value InRange(const IndexValue& value, int64_t extent, int64_t least,
                int64_t most);  // of value + least .. value + most
  std::vector<int> OpenConditions(const std::vector<Id>& blocks) const;
  bool GuardsAll(int condition, const std::vector<Id>& blocks) const;
  IndexSum UnboundPart(int condition, IndexSum* bound) const;
  bool SeldomHolds(int condition) const;
  bool HoldsAlike(const IndexSum& bound, const Interval& rest, int64_t extent) const;
  bool HoldsAlike(int condition) const;
  bool Postponed(Id loop, const std::vector<int>& candidates) const;
  bool TrimsExactly(int condition, Id loop, const std::vector<Id>& blocks) const;
  Value TrimmedUpper(Id loop, std::vector<int>& established);
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
  void Store(Id buffer, const IndexSum& address, Value value, Value mask);
  void Forget(Id buffer);  // drops what was loaded from its memory
  void StoreVector(Id buffer, const IndexValue& at, Value stored);
  bool IsAligned(const IndexValue& at, int64_t elements) const;  // to this many elements
  void Fence();                                                  // after non-temporal stores
  struct PendingStore {
    mlir::Block* block = nullptr;
    Id buffer = kNone;
    IndexValue at;
    Value stored;
  };
  void StoreApart(Id buffer, const IndexValue& at, Value stored);  // emit_transposed.cc
  void StoreLanes(Id buffer, const IndexValue& at, Value stored);
  void StoreTransposed(absl::Span<const PendingStore> rows);
  void StoreRun(Id buffer, const IndexValue& at, Value from, int64_t first, int64_t count);
  Value Part(Value vector, int64_t first, int64_t count);
  void EmitPendingBefore(Id buffer, const IndexValue& access);
  void EmitPendingIn(mlir::Operation* region);
  void EmitPending(llvm::function_ref<bool(const PendingStore&)> wanted);
  Value LoadStrided(Id buffer, const IndexValue& at);  // emit_strided.cc
  Value LoadWindow(Id buffer, const IndexValue& first, int64_t width);
  // The physical address of a logical address, according to the buffer's swizzle. Lanes that are then not
  // neighbors are gathered and scattered.
  IndexValue Swizzle(Id buffer, const IndexValue& at);  // emit_swizzle.cc
  Value FromMemory(Value value, DType type);
  Value ToMemory(Value value, DType type);
  Saved EnterRegion(bool loop);
  void LeaveRegion(Saved saved);

  // --- Methods of emit_boundary_versions.cc, for versions at boundaries.
  bool Drops(const std::vector<Id>& blocks, int condition) const;
  std::vector<BoundaryVersions> VersionsOf(const std::vector<Id>& blocks, const std::vector<int>& conditions);
  void EmitBoundaryVersions(Id loop, absl::Span<const BoundaryVersions> edges);
  IndexValue Assumed(int condition, IndexValue value) const;
  bool Holds(int condition, int64_t bound, const Interval& rest) const;

  // --- Methods of emit_index.cc, for indices.
  IndexValue Eval(const IndexSum& sum);
  IndexValue Digit(const IndexValue& value, int64_t lower, int64_t extent);
  std::optional<IndexValue> DigitOfLess(const IndexValue& value, int64_t lower, int64_t extent);
  IndexValue HoistedDigit(const IndexValue& value, int64_t lower, int64_t extent, Interval range);
  IndexValue LaneValue(const IndexValue& value, size_t lane) const;
  Interval RangeOf(const IndexValue& value) const;
  Value Scalar(const IndexValue& value);  // of a value that is equal in all lanes
  Value Vector(const IndexValue& value);  // a vector of index
  Value Hoist(int level, std::vector<int64_t> key, llvm::function_ref<Value()> make);
  Value ConstantIndex(int64_t value);
  Value ConstantLanes(const std::vector<int64_t>& values, mlir::Type element);
  int AddAtom(Value value, int level, Interval range);

  const Program& p_;
  const Plan& plan_;
  const std::unordered_map<Id, std::string>& calls_;
  const LowerOptions& options_;
  mlir::ModuleOp module_;
  mlir::OpBuilder b_;
  mlir::Location loc_;

  std::vector<Level> levels_;
  std::vector<Atom> atoms_;
  std::vector<Value> buffers_;                // by buffer; one value where they share memory
  const std::vector<bool> registers_;         // by buffer: indexed by constants only
  std::vector<Id> allocated_;                 // heap buffers to free
  std::unordered_map<Id, IndexValue> loops_;  // bound loops, by node
  std::vector<std::optional<bool>> known_;    // by condition: its truth, if known
  std::map<int, BoundaryValue> assumed_;      // by condition: the assumed value of its bound part
  int64_t lanes_ = 0;                         // of the vectorized loop around; 0 if there is none
  Id vector_loop_ = kNone;
  bool in_remainder_ = false;  // in the branch for incomplete tiles, which gets no further versions
  int versions_ = 0;
  const BlockPlan* block_ = nullptr;             // the block whose instance is emitted
  Id instance_ = kNone;                          // the node of that block
  bool fast_ = false;                            // the block has the annotation fast-math
  bool streams_ = false;                         // the block has the annotation stream
  bool has_streamed_ = false;                    // there were non-temporal stores since the last fence
  std::optional<bool> starts_;                   // whether a reduction without initialization starts here
  std::unordered_map<Id, Value> exprs_;          // the block's values so far
  std::map<LoadKey, Value> loads_;               // loaded values that are still valid
  std::vector<PendingStore> pending_;            // stores that are delayed
  std::unordered_map<Id, IndexValue> gathered_;  // computed indices, by their marks
  std::string name_;
};

}  // namespace kiln
