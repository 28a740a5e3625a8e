// SharedLoads: the values that emitted code has loaded, or stored as whole vectors, and that are still valid. A second
// load of an address becomes the known value if no store to the buffer's memory is between. Private to emit/.
#pragma once

#include <map>
#include <vector>

#include "backends/lower/plan/index_plan.h"
#include "backends/lower/plan/index_value.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include "mlir/IR/Value.h"

namespace kiln {

class SharedLoads {
 public:
  struct Key {
    Id buffer = kNone;
    std::vector<int64_t> key;
    auto operator<=>(const Key&) const = default;
  };
  static Key KeyOf(Id buffer, const IndexValue& at);

  // Starts without loaded values. Keeps references to both arguments.
  SharedLoads(const Program& program, const IndexPlan& plan) : program_(program), plan_(plan) {}

  mlir::Value Find(const Key& key) const;  // null if it is not known
  void Keep(Key key, mlir::Value value) { loads_.emplace(std::move(key), value); }
  // Forgets the values that were loaded from the buffer's memory, which other buffers may share.
  void Forget(Id buffer);
  // Forgets the values that other threads may overwrite: all but those loaded from inputs, constants and scalars.
  void ForgetWritten();
  // Calls emit() for a region of code that may not run. After it, forgets the values that were loaded there and those
  // that stores there may have changed.
  void InRegion(llvm::function_ref<void()> emit);
  // Calls emit() for the body of a loop. At its start, only values from inputs, constants and scalars remain known,
  // because another iteration may store to other buffers. The same values are known after the loop.
  void InLoop(llvm::function_ref<void()> emit);

 private:
  using Loads = std::map<Key, mlir::Value>;

  const Program& program_;
  const IndexPlan& plan_;
  Loads loads_;
};

}  // namespace kiln
