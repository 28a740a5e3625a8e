// Defines malloc, calloc, realloc, free, memalign, aligned_alloc and posix_memalign for a worker's program. When an
// allocation fails, they call AllocationRefused before they return. In a kernel's checked run, malloc puts guards
// around the memory that it returns (heap_guard.h). Libraries that the program loads use these functions too. Include
// this only in the main.cc of a worker. With AddressSanitizer, which has its own functions, nothing is defined.
#pragma once

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "backends/workers/heap_guard.h"

namespace kiln {

// Called each time an allocation fails, before the allocation function returns null, from any thread. Each worker
// program defines this function. It must not allocate.
void AllocationRefused();

}  // namespace kiln

#if !__has_feature(address_sanitizer)
extern "C" {

void* __libc_malloc(size_t);
void* __libc_calloc(size_t, size_t);
void* __libc_realloc(void*, size_t);
void* __libc_memalign(size_t, size_t);
void __libc_free(void*);

static void* Checked(void* memory) {
  if (memory == nullptr) kiln::AllocationRefused();
  return memory;
}

void* malloc(size_t size) noexcept {
  if (kiln::heap_is_guarded.load(std::memory_order_relaxed)) {
    if (void* memory = kiln::AllocateGuarded(size)) return memory;
  }
  return Checked(__libc_malloc(size));
}
void free(void* memory) noexcept {
  if (kiln::guarded_blocks.load(std::memory_order_relaxed) > 0 && kiln::FreeGuarded(memory)) return;
  __libc_free(memory);
}
void* calloc(size_t count, size_t size) noexcept { return Checked(__libc_calloc(count, size)); }
void* realloc(void* old, size_t size) noexcept {
  const int64_t guarded =
      kiln::guarded_blocks.load(std::memory_order_relaxed) > 0 ? kiln::GuardedBytes(old) : -1;
  if (guarded >= 0) {
    void* copy = malloc(size);
    if (copy == nullptr) return nullptr;
    memcpy(copy, old, size < static_cast<size_t>(guarded) ? size : static_cast<size_t>(guarded));
    free(old);
    return copy;
  }
  void* memory = __libc_realloc(old, size);
  return size == 0 ? memory : Checked(memory);
}
void* memalign(size_t alignment, size_t size) noexcept { return Checked(__libc_memalign(alignment, size)); }
void* aligned_alloc(size_t alignment, size_t size) noexcept { return memalign(alignment, size); }
int posix_memalign(void** memory, size_t alignment, size_t size) noexcept {
  *memory = memalign(alignment, size);
  return *memory == nullptr ? ENOMEM : 0;
}

}  // extern "C"
#endif
