// kiln-runner: started by RunnerPool (pool.h) as worker_main.h says.
//
// It also defines the C allocation functions, which kernels then share, to know when memory was refused.
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "backends/runner/guard.h"
#include "backends/runner/worker_main.h"
#include "backends/runner/zygote.h"

#if !__has_feature(address_sanitizer)
extern "C" {

void* __libc_malloc(size_t);
void* __libc_calloc(size_t, size_t);
void* __libc_realloc(void*, size_t);
void* __libc_memalign(size_t, size_t);

static void* Checked(void* memory) {
  if (memory == nullptr) kiln::NoteRefusedAllocation();
  return memory;
}

void* malloc(size_t size) noexcept { return Checked(__libc_malloc(size)); }
void* calloc(size_t count, size_t size) noexcept { return Checked(__libc_calloc(count, size)); }
void* realloc(void* old, size_t size) noexcept {
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

int main(int count, char** arguments) {
  const auto start = kiln::EnterWorker(count, arguments);
  if (!start) {
    fprintf(stderr, "kiln-runner runs candidates for kiln, which starts it.\n");
    return 2;
  }
  return kiln::ServeRequests(start->socket, start->problem);
}
