// Emits an instance of a block: its expressions, its reduction, its stores. Values are scalars, or vectors
// with a lane for each iteration of the vectorized loop. Private to emit/.
//
//   InstanceEmitter(memory, leaf).Emit(mask);
#pragma once

#include <unordered_map>
#include <vector>

#include "backends/lower/emit/emit_access.h"

namespace kiln {

// Combines the values of threads of a GPU.
class AcrossThreads {
 public:
  using Values = llvm::SmallVector<mlir::Value, 4>;
  using Fold = llvm::function_ref<Values(const Values&, const Values&)>;

  virtual ~AcrossThreads() = default;
  // Replaces `values` by the combination of the values of all threads that meet, of vectors lane by lane. Returns the test
  // whether this thread stores it.
  virtual mlir::Value Combine(Values& values, Fold fold) = 0;
};

class InstanceEmitter {
 public:
  // Keeps references to both. An object emits one instance.
  InstanceEmitter(MemoryEmitter& memory, const plan::Leaf& leaf);

  // Emits the instance for the lanes of the mask; null: for all lanes.
  void Emit(mlir::Value mask);
  // Emits the instance of a reduction. A thread has a value if `active` (null: all have), in the lanes of the mask. Results
  // are stored in the lanes of `results`.
  void EmitAcross(AcrossThreads& threads, mlir::Value active, mlir::Value mask, mlir::Value results);

 private:
  using Value = mlir::Value;
  using Values = AcrossThreads::Values;

  // Emits the instance's values. If it reduces over lanes, combines those of all lanes, and sets the mask to null.
  Values EmitValues(Value& mask);
  void Store(Values values, Value mask);

  Value EmitExpr(Id expr, Value mask);
  Value EmitIndex(const IndexValue& index);
  Value EmitGather(Id expr, Value mask);
  Value EmitWithin(Id expr, Value mask);
  Value EmitInside(Id within, Value mask, Value lanes);
  // Calls emit for a region, after which neither its loads nor its expressions are known.
  Value InRegion(llvm::function_ref<Value()> emit);
  bool IsReducedInLanes();
  bool HasLanes();                                     // true if a reduction keeps the lanes apart
  Value Neutral(const Monoid& monoid, size_t result);  // in each lane, if it has lanes
  void Accumulate(const Monoid& monoid, bool starts, Values& values, Value mask);
  Value EmitCombine(Id expr, const Values& left, const Values& right, bool sum);
  void Reduce(const Monoid& monoid, Values& lifts, Value mask);  // lanes into one value per result
  Values Fold(const Monoid& monoid, const Values& left, const Values& right);
  Value Marked(Value result);  // with fast-math, if the block has the annotation

  MemoryEmitter& memory_;
  CodeBuilder& code_;
  mlir::ImplicitLocOpBuilder& b_;
  const Program& p_;
  const plan::Leaf& leaf_;
  const BlockPlan& block_;
  std::unordered_map<Id, Value> exprs_;  // values so far
};

}  // namespace kiln
