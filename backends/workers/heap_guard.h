// Temporaries of a kernel that is checked: what malloc gives meanwhile lies between guards, as parameters do
// (guard.h). Timed runs get plain memory. For allocation.h and the one thread that runs kernels; what a
// kernel allocates it may allocate and free on any thread, also later.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "backends/workers/guard.h"

namespace kiln {

class HeapGuard {
 public:
  // From here on, until the object's end. `spare`: KernelObject::heap_alignment.
  explicit HeapGuard(int64_t spare);
  ~HeapGuard();
  HeapGuard(const HeapGuard&) = delete;
  HeapGuard& operator=(const HeapGuard&) = delete;

  bool Used() const;         // something was allocated
  int64_t Violated() const;  // the bytes of a block, freed or not, that was written next to; -1: none was
};

// What allocation.h asks before it calls any of these.
extern std::atomic<bool> heap_is_guarded;
extern std::atomic<int> guarded_blocks;  // that are not freed

void* AllocateGuarded(size_t bytes);       // null: there is no more of it, and plain memory will do
bool FreeGuarded(void* memory);            // false: it is plain
int64_t GuardedBytes(const void* memory);  // -1: it is plain
const GuardedBuffer* GuardedAt(const char* address);  // whose guards or bytes these are, or null

}  // namespace kiln
