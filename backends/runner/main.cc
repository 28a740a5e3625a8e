// kiln-runner: started by RunnerPool (pool.h) as `kiln-runner SOCKET PARENT CORES`, with the number of an
// open socket, the process that it must not outlive, and the cores it may use, separated by commas (none:
// all).
//
// It also defines the C allocation functions, which kernels then share, to know when memory was refused.
#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <string>
#include <vector>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "backends/runner/guard.h"
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

namespace {

std::string UseCores(const std::string& cores) {
  if (cores.empty()) return "";
  cpu_set_t set;
  CPU_ZERO(&set);
  for (absl::string_view part : absl::StrSplit(cores, ',')) {
    int core = 0;
    if (!absl::SimpleAtoi(part, &core) || core < 0 || core >= CPU_SETSIZE)
      return absl::StrCat("'", part, "' is no core");
    CPU_SET(core, &set);
  }
  return sched_setaffinity(0, sizeof(set), &set) == 0 ? "" : absl::StrCat("cores ", cores, " cannot be used");
}

}  // namespace

int main(int count, char** arguments) {
  int socket = 0, parent = 0;
  if (count != 4 || !absl::SimpleAtoi(arguments[1], &socket) || !absl::SimpleAtoi(arguments[2], &parent)) {
    fprintf(stderr, "kiln-runner runs candidates for kiln, which starts it.\n");
    return 2;
  }
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (getppid() != parent) return 1;
  return kiln::ServeRequests(socket, UseCores(arguments[3]));
}
