// Emits loads and stores: scalars, contiguous vectors and scattered lanes, with and without masks. Private to
// emit/.
#pragma once

#include <set>

#include "backends/lower/emit/emit_buffers.h"
#include "backends/lower/emit/emit_index.h"
#include "backends/lower/emit/emit_transposed.h"
#include "backends/lower/emit/shared_loads.h"
#include "llvm/Support/Alignment.h"

namespace kiln {

class MemoryEmitter {
 public:
  using Value = mlir::Value;

  // Makes an emitter of loads and stores with these emitters of indices and buffers. Keeps references to both.
  MemoryEmitter(IndexEmitter& indices, BufferEmitter& buffers);

  CodeBuilder& code() { return code_; }
  IndexEmitter& indices() { return indices_; }
  BufferEmitter& buffers() { return buffers_; }
  SharedLoads& loads() { return loads_; }
  // Makes later unmasked loads and stores of adjacent lanes state the alignment that their indices prove, at most this
  // many bytes, a power of two. All buffers must be aligned to this many bytes.
  void StateAlignments(int64_t most) { most_alignment_ = most; }

  // Makes strided vector loads from this buffer read only the elements of the lanes, as another thread may be writing
  // those between them.
  void ReadLanesAlone(Id buffer) { lanes_alone_.insert(buffer); }

  // Emits a load, unless a value loaded before is still valid; returns the value. `otherwise` is the value of vector
  // lanes outside of the mask. If it is null, these lanes get some value on which no operation traps. If the address is
  // equal in all lanes, returns a scalar and ignores the mask.
  Value Load(Id buffer, const IndexSum& address, Value mask, Value otherwise);
  void Store(Id buffer, const IndexSum& address, Value value, Value mask, const plan::Store& how = {});
  // Returns the alignment in bytes that the index `at` proves for a vector there; nullopt unless StateAlignments was
  // called.
  llvm::MaybeAlign AlignmentOf(Id buffer, const IndexValue& at);
  // Emits the delayed stores that wait for the flush with this number, transposed in registers.
  void Flush(int number) { delayed_.Flush(number); }

 private:
  int64_t DivisorOf(const IndexValue& value) const;
  Value LoadMasked(Id buffer, const IndexValue& at, Value mask, Value otherwise);
  Value LoadLanes(Id buffer, const IndexValue& at);
  Value LoadStrided(Id buffer, const IndexValue& at);  // emit_strided.cc
  Value LoadWindow(Id buffer, const IndexValue& first, int64_t width);
  mlir::Type ElementOf(Id buffer);
  void StoreVector(Id buffer, const IndexValue& at, Value stored, Value mask, bool streams);
  void StoreStreaming(Id buffer, const IndexValue& at, Value stored);

  CodeBuilder& code_;
  mlir::ImplicitLocOpBuilder& b_;
  IndexEmitter& indices_;
  BufferEmitter& buffers_;
  SharedLoads loads_;
  DelayedStores delayed_;
  int64_t most_alignment_ = 0;  // 0: not stated
  std::set<Id> lanes_alone_;
};

}  // namespace kiln
