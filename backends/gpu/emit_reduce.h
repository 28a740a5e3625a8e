// Emits code that combines the values of several threads of a GPU into one, vectors lane by lane: by shuffles within a
// warp, then through shared memory. Private to backends/gpu.
#pragma once

#include <vector>

#include "backends/gpu/kernel_plan.h"
#include "backends/lower/emit/emit_code.h"
#include "backends/lower/emit/emit_expr.h"

namespace kiln {

// Emits an i32 with a bit for each thread that the warp of `thread` has. The last warp of a block of `threads` threads
// may have fewer than 32.
mlir::Value LanesOfWarp(CodeBuilder& code, mlir::Value thread, int64_t threads);

class ThreadReduction : public AcrossThreads {
 public:
  using Value = mlir::Value;

  // Makes a reduction over threads along `axes` (positions in AxisNumbers). `numbers`: this thread's number on each
  // axis; `thread`: its number in the block; `stores`: whether it stores the result (null: always). Keeps references to
  // code and kernel.
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
  // Shared memory in which threads exchange `slots` values. Vectors are stored by lane: the first lane of all slots,
  // then the second lane of all slots, and so on.
  struct Exchange {
    Value memory;
    mlir::Type type = {};  // of the values
    int64_t slots = 0;
  };
  Value PlaceOf(const Exchange& exchange, Value slot, int64_t lane);
  void Put(Value value, const Exchange& exchange, Value slot);
  Value Get(const Exchange& exchange, Value slot);
  // For an axis that is combined: the number of groups of threads along it, and the distance between their slots in
  // shared memory. Threads of a group have combined their values by shuffles before.
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
