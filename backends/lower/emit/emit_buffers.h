// Emits the memory of a function's buffers: allocations of temporaries, and constants. Tells the memref of each buffer,
// also of parameters. Private to emit/.
#pragma once

#include "llvm/ADT/STLFunctionalExtras.h"

#include <vector>

#include "backends/lower/emit/emit_code.h"

namespace kiln {

// The name of the module's symbol for the shared memory of a GPU's block of threads. It has no size: the launch of a
// kernel says how large it is.
inline constexpr char kSharedArena[] = "kiln_shared";
// Emits a view of `elements` elements in the shared memory of a GPU's block, from the byte `offset` on, which must be a
// multiple of the element's size. Declares the symbol of this memory if need be.
mlir::Value SharedMemory(CodeBuilder& code, mlir::Type element, int64_t elements, int64_t offset);

class BufferEmitter {
 public:
  using Value = mlir::Value;

  explicit BufferEmitter(CodeBuilder& code) : code_(code), values_(code.program().buffers.size()) {}

  mlir::Type TypeOfParameter(Id buffer);
  void SetParameter(Id buffer, Value memory) { values_[buffer] = memory; }
  // Emits the allocations of temporaries and the constants for all buffers of which `uses` is true. Parameters, and
  // buffers in the workspace, must be set before (SetParameter).
  void Declare(llvm::function_ref<bool(Id)> uses);
  // Emits code that frees the buffers that Declare has allocated on the heap.
  void Free();
  // Returns the memory of a buffer, which must be declared; buffers that share memory have one value.
  Value operator[](Id buffer) const;
  // Emits a load of the status that the function returns. Returns the constant 0 if the program has no status, or if
  // its buffer is not declared.
  Value Status();

 private:
  mlir::MemRefType MemoryOf(Id buffer, int64_t elements);
  Value Global(Id buffer);

  CodeBuilder& code_;
  std::vector<Value> values_;  // by buffer
  std::vector<Id> allocated_;  // on the heap
};

}  // namespace kiln
