// Collects strided stores of vectors until a flush, and then emits those to neighboring addresses together, transposed
// in registers (passes/transposed_stores.h). Private to emit/.
#pragma once

#include <vector>

#include "absl/types/span.h"
#include "backends/lower/emit/emit_buffers.h"
#include "backends/lower/emit/emit_index.h"
#include "backends/lower/emit/shared_loads.h"

namespace kiln {

struct DelayedStore {
  int flush = 0;
  Id buffer = kNone;
  IndexValue at;
  mlir::Value stored;
};

class DelayedStores {
 public:
  // Starts without delayed stores. Keeps references to all arguments.
  DelayedStores(IndexEmitter& indices, BufferEmitter& buffers, SharedLoads& loads)
      : indices_(indices), buffers_(buffers), loads_(loads) {}

  void Add(DelayedStore store) { delayed_.push_back(std::move(store)); }
  // Emits the delayed stores that wait for the flush with this number, and transposes those to neighboring addresses.
  void Flush(int number);

 private:
  void StoreTransposed(absl::Span<const DelayedStore> rows);

  IndexEmitter& indices_;
  BufferEmitter& buffers_;
  SharedLoads& loads_;
  std::vector<DelayedStore> delayed_;  // stores that wait for their flush
};

// Emits stores of a vector's lanes: one by one, or in runs of equal length, a power of two, if the lanes of each run
// are neighbors in memory.
void StoreLanes(IndexEmitter& indices, mlir::Value memory, const IndexValue& at, mlir::Value stored);

}  // namespace kiln
