// Emits an instance of a block: its expressions, its reduction, its stores. Values are scalars, or vectors
// with a lane for each iteration of the vectorized loop. Private to emit/.
//
//   InstanceEmitter(memory, leaf).Emit(mask);
#pragma once

#include <unordered_map>
#include <vector>

#include "backends/lower/emit/emit_access.h"

namespace kiln {

// The interface that combines the values of a GPU's threads in a reduction across threads (backends/gpu/emit_reduce.h).
class AcrossThreads {
 public:
  using Values = llvm::SmallVector<mlir::Value, 4>;
  using Fold = llvm::function_ref<Values(const Values&, const Values&)>;

  virtual ~AcrossThreads() = default;
  // Emits code that combines the values of all threads of the reduction by `fold`, vectors lane by lane, and replaces
  // `values` by the result. Returns the test whether this thread stores it.
  virtual mlir::Value Combine(Values& values, Fold fold) = 0;
};

class InstanceEmitter {
 public:
  // Makes an emitter for one instance of the leaf's block. Keeps references to both arguments.
  InstanceEmitter(MemoryEmitter& memory, const plan::Leaf& leaf);

  // Emits the instance of the block for the vector lanes of the mask, or for all lanes if the mask is null.
  void Emit(mlir::Value mask);
  // Emits the instance of a reduction across threads of a GPU. A thread has a value to combine if `active` holds (null:
  // all have one), in the vector lanes of `mask`. The combined values are stored in the lanes of `results`.
  void EmitAcross(AcrossThreads& threads, mlir::Value active, mlir::Value mask, mlir::Value results);

 private:
  using Value = mlir::Value;
  using Values = AcrossThreads::Values;

  // Emits the values that the instance of the block stores or accumulates. If the block reduces over vector lanes,
  // combines the values of all lanes into one and sets the mask to null.
  Values EmitValues(Value& mask);
  void Store(Values values, Value mask);

  Value EmitExpr(Id expr, Value mask);
  Value EmitIndex(const IndexValue& index);
  Value EmitGather(Id expr, Value mask);
  Value EmitWithin(Id expr, Value mask);
  Value EmitInside(Id within, Value mask, Value lanes);
  // Returns the result of emit(), which emits code that may not run. Values that are loaded or computed there are not
  // used after it.
  Value InRegion(llvm::function_ref<Value()> emit);
  bool IsReducedInLanes();
  bool HasLanes();                                     // true if a reduction keeps the lanes apart
  Value Neutral(const Monoid& monoid, size_t result);  // the monoid's neutral value; in each lane if HasLanes
  void Accumulate(const Monoid& monoid, bool starts, Values& values, Value mask);
  Value EmitCombine(Id expr, const Values& left, const Values& right, bool sum);
  void Reduce(const Monoid& monoid, Values& lifts, Value mask);  // lanes into one value per result
  Values Fold(const Monoid& monoid, const Values& left, const Values& right);
  // Sets the fast-math flag afn on the operation of `result` if the leaf is `fast` and the operation is a float
  // function. Returns `result`.
  Value Marked(Value result);

  MemoryEmitter& memory_;
  CodeBuilder& code_;
  mlir::ImplicitLocOpBuilder& b_;
  const Program& p_;
  const plan::Leaf& leaf_;
  const BlockPlan& block_;
  std::unordered_map<Id, Value> exprs_;  // values so far
};

}  // namespace kiln
