// Emits the combination of values of threads, or of each lane of their vectors: by shuffles within a warp, then through
// shared memory. Private to backends/gpu.
#pragma once

#include <vector>

#include "backends/gpu/kernel_plan.h"
#include "backends/lower/emit/emit_code.h"
#include "backends/lower/emit/emit_expr.h"

namespace kiln {

// Emits the mask of the threads that the warp of this thread has, an i32.
mlir::Value LanesOfWarp(CodeBuilder& code, mlir::Value thread, int64_t threads);

class ThreadReduction : public AcrossThreads {
 public:
  using Value = mlir::Value;

  // Combines over these axes. `numbers`: of the thread on each axis; `thread`: in the block; `stores`:
  // whether it stores the result (null: always). Keeps references to code and kernel.
  ThreadReduction(CodeBuilder& code, const Kernel& kernel, const std::vector<size_t>& axes,
                  const std::vector<Value>& numbers, Value thread, Value stores)
      : code_(code),
        b_(code.b()),
        kernel_(kernel),
        axes_(axes),
        numbers_(numbers),
        thread_(thread),
        stores_(stores) {}

  Value Combine(Values& values, Fold fold) override;

 private:
  Value Shuffle(Value value, int64_t distance);
  void CombineLanes(int64_t lanes, Values& values, Fold fold);
  void CombineThroughMemory(int64_t lanes, Values& values, Fold fold);
  // Shared memory with a value for each slot: the first lane of all slots, then the second.
  struct Exchange {
    Value memory;
    mlir::Type type = {};  // of the values
    int64_t slots = 0;
  };
  Value PlaceOf(const Exchange& exchange, Value slot, int64_t lane);
  void Put(Value value, const Exchange& exchange, Value slot);
  Value Get(const Exchange& exchange, Value slot);
  // The groups of lanes along an axis that is combined, and the distance of their slots.
  struct Digit {
    int64_t groups, distance;
  };
  std::vector<Digit> DigitsOf(int64_t lanes, Value slot, Value& first);

  CodeBuilder& code_;
  mlir::ImplicitLocOpBuilder& b_;
  const Kernel& kernel_;
  const std::vector<size_t> axes_;
  const std::vector<Value> numbers_;
  const Value thread_, stores_;
};

}  // namespace kiln
