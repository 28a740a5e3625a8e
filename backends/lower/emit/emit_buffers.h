// Declares the buffers of a function: parameters, temporaries, constants. Private to emit/.
#pragma once

#include <vector>

#include "backends/lower/emit/emit_code.h"

namespace kiln {

class BufferEmitter {
 public:
  using Value = mlir::Value;

  explicit BufferEmitter(CodeBuilder& code) : code_(code), values_(code.program().buffers.size()) {}

  mlir::Type TypeOfParameter(Id buffer);
  void SetParameter(Id buffer, Value memory) { values_[buffer] = memory; }
  // Declares the temporaries and constants that a phase uses.
  void Declare(bool prepare);
  // Frees what Declare has allocated on the heap.
  void Free();
  // The memory of a buffer that the function uses; buffers that share memory have one value.
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
