// Declares the buffers of a function: parameters, temporaries, constants. Private to emit/.
#pragma once

#include "llvm/ADT/STLFunctionalExtras.h"

#include <vector>

#include "backends/lower/emit/emit_code.h"

namespace kiln {

// The memory that a block of threads shares, as a symbol of the module without a size. A launch says how
// large it is.
inline constexpr char kSharedArena[] = "kiln_shared";
// Emits a view of elements of the arena, and declares the arena if need be. The offset in bytes must be a multiple of
// their size.
mlir::Value SharedMemory(CodeBuilder& code, mlir::Type element, int64_t elements, int64_t offset);

class BufferEmitter {
 public:
  using Value = mlir::Value;

  explicit BufferEmitter(CodeBuilder& code) : code_(code), values_(code.program().buffers.size()) {}

  mlir::Type TypeOfParameter(Id buffer);
  void SetParameter(Id buffer, Value memory) { values_[buffer] = memory; }
  // Declares the temporaries and constants that the function uses. Parameters, and what is in the workspace,
  // must be set.
  void Declare(llvm::function_ref<bool(Id)> uses);
  // Frees what Declare has allocated on the heap.
  void Free();
  // Returns the memory of a buffer, which must be declared; buffers that share memory have one value.
  Value operator[](Id buffer) const;
  // Loads the status of the function, which is 0 if the program has none.
  Value Status();

 private:
  mlir::MemRefType MemoryOf(Id buffer, int64_t elements);
  Value Global(Id buffer);

  CodeBuilder& code_;
  std::vector<Value> values_;  // by buffer
  std::vector<Id> allocated_;  // on the heap
};

}  // namespace kiln
