// Loaded values that are still valid. Two loads of an address with no store between them become one. Private
// to emit/.
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

  // Keeps references to both.
  SharedLoads(const Program& program, const IndexPlan& plan) : program_(program), plan_(plan) {}

  mlir::Value Find(const Key& key) const;  // null if it is not known
  void Keep(Key key, mlir::Value value) { loads_.emplace(std::move(key), value); }
  // Drops what was loaded from the buffer's memory.
  void Forget(Id buffer);
  // Drops what other threads may write: all but loads from inputs, constants and scalars.
  void ForgetWritten();
  // Calls emit for a region. What is loaded there is not known after it, nor is what stores there may change.
  void InRegion(llvm::function_ref<void()> emit);
  // Does the same for the body of a loop: inside, only loads from inputs, constants and scalars remain known, because
  // another iteration may store to other buffers.
  void InLoop(llvm::function_ref<void()> emit);

 private:
  using Loads = std::map<Key, mlir::Value>;

  const Program& program_;
  const IndexPlan& plan_;
  Loads loads_;
};

}  // namespace kiln
