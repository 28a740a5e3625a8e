// kiln-builder: started by BuilderPool (pool.h) as worker_main.h says; answers each request with one result.
// It compiles, and never runs what it compiled. Temporary files are in a folder of its own
// (scratch_folder.h). Memory beyond the limit of a request ends it with kOutOfMemoryExit; a file may have as
// many bytes, and few are open at a time.
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

// LLVM and MLIR do not look at what malloc returns everywhere, so it does not come to a return.
void kiln::AllocationRefused() { _exit(kOutOfMemoryExit); }

namespace {

int64_t DataBytes() {
  std::ifstream statm("/proc/self/statm");
  int64_t size = 0, resident = 0, shared = 0, text = 0, library = 0, data = 0;
  statm >> size >> resident >> shared >> text >> library >> data;
  return data * sysconf(_SC_PAGESIZE);
}

constexpr rlim_t kOpenFiles = 256;

// The soft limit, so that the next request may have more.
void Limit(__rlimit_resource resource, rlim_t value) {
  rlimit limit = {};
  getrlimit(resource, &limit);
  limit.rlim_cur = std::min(value, limit.rlim_max);
  setrlimit(resource, &limit);
}

// Of memory, and of any one file, which holds no more than was in memory.
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
