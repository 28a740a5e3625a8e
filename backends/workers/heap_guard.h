// Guards the memory that a kernel allocates in its checked run: malloc returns memory between guards, like those of
// parameters (guard.h). Timed runs get plain memory. calloc and memalign always return plain memory. Only allocation.h,
// the fault handler (guard.cc) and the one thread that runs kernels use this. A kernel may allocate and free its memory
// on any thread, and free it after the checked run.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "backends/workers/guard.h"

namespace kiln {

class HeapGuard {
 public:
  // Makes malloc return guarded memory until the destructor. `spare`: the bytes that a kernel asks for beyond what it
  // uses (KernelObject::heap_alignment). Blocks that are larger than `spare` are made smaller by it, so that the guard
  // begins where the used bytes end.
  explicit HeapGuard(int64_t spare);
  ~HeapGuard();
  HeapGuard(const HeapGuard&) = delete;
  HeapGuard& operator=(const HeapGuard&) = delete;

  bool Used() const;         // whether anything was allocated
  int64_t Violated() const;  // the size of a block, freed or not, with a write outside of it; -1: none
};

// Flags that malloc and free (allocation.h) test before they call the functions below: whether memory is guarded now,
// and the number of guarded blocks that are not freed.
extern std::atomic<bool> heap_is_guarded;
extern std::atomic<int> guarded_blocks;  // number of blocks that are not freed

void* AllocateGuarded(size_t bytes);  // null if 4096 blocks exist, or without memory; use plain memory then
bool FreeGuarded(void* memory);       // false if the memory is not guarded
int64_t GuardedBytes(const void* memory);             // -1 if the memory is not guarded
const GuardedBuffer* GuardedAt(const char* address);  // by an address in its bytes or guards

}  // namespace kiln
