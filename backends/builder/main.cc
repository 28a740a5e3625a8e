// The main function of kiln-builder, which answers each build request with one result. BuilderPool (pool.h) starts the
// program as worker_main.h says. kiln-builder compiles code and never runs it. Temporary files are in a folder of its
// own (scratch_folder.h). If a request exceeds its memory limit, the process ends with kOutOfMemoryExit. The same limit
// applies to the size of a file. At most 256 files may be open at a time.
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <fstream>

#include "backends/builder/build.h"
#include "backends/builder/exit_status.h"
#include "backends/workers/allocation.h"
#include "backends/workers/frames.h"
#include "backends/workers/scratch_folder.h"
#include "backends/workers/worker_main.h"

// Ends the process with kOutOfMemoryExit when an allocation is refused, because LLVM and MLIR do not check every result
// of malloc.
void kiln::AllocationRefused() { _exit(kOutOfMemoryExit); }

namespace {

int64_t DataBytes() {
  std::ifstream statm("/proc/self/statm");
  int64_t size = 0, resident = 0, shared = 0, text = 0, library = 0, data = 0;
  statm >> size >> resident >> shared >> text >> library >> data;
  return data * sysconf(_SC_PAGESIZE);
}

constexpr rlim_t kOpenFiles = 256;

// Limits a resource of this process. Sets the soft limit only, so that the next request may have a higher one.
void Limit(__rlimit_resource resource, rlim_t value) {
  rlimit limit = {};
  getrlimit(resource, &limit);
  limit.rlim_cur = std::min(value, limit.rlim_max);
  setrlimit(resource, &limit);
}

// Limits this process to `bytes` more memory (not with AddressSanitizer), and each file that it writes to a size of
// `bytes`.
void LimitBytes(int64_t bytes) {
  Limit(RLIMIT_FSIZE, static_cast<rlim_t>(bytes));
#if !__has_feature(address_sanitizer)
  Limit(RLIMIT_DATA, static_cast<rlim_t>(DataBytes() + bytes));
#endif
}

}  // namespace

int main(int count, char** arguments) {
  auto start = kiln::EnterWorker(count, arguments);
  if (!start) {
    fprintf(stderr, "kiln-builder compiles candidates for kiln, which starts it.\n");
    return 2;
  }
  signal(SIGPIPE, SIG_IGN);
  signal(SIGXFSZ, SIG_IGN);
  const rlimit no_core = {};
  setrlimit(RLIMIT_CORE, &no_core);
  Limit(RLIMIT_NOFILE, kOpenFiles);
  auto scratch = kiln::ScratchFolder::Make();
  if (!scratch.ok()) {
    if (start->problem.empty()) start->problem = std::string(scratch.status().message());
  } else {
    setenv("TMPDIR", (*scratch)->path().c_str(), 1);
  }
  if (!kiln::WriteFrame(start->socket, start->problem) || !kiln::WriteFrame(start->socket, "")) return 1;
  std::string bytes;
  while (kiln::ReadFrame(start->socket, -1, kiln::kNoDeadline, &bytes) == kiln::FrameStatus::kOk) {
    kiln::BuildRequest request;
    kiln::BuildResult result{.status = kiln::BuildStatus::kBuildFailed, .error = "the request is malformed"};
    if (kiln::Decode(bytes, &request)) {
      LimitBytes(request.limits.bytes);
      result = kiln::Build(request);
    }
    if (!kiln::WriteFrame(start->socket, kiln::Encode(result))) break;
  }
  if (scratch.ok()) scratch->reset();
  _exit(0);
}
