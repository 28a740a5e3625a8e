// kiln-gpu-runner: runs kernels on the GPU of this machine. It needs libc and NVIDIA's driver alone.
//
//   kiln-gpu-runner --machine                        prints what the GPU is, as JSON; exits with 3 if there is none
//   kiln-gpu-runner --bundle DIR [--seconds N]       measures a bundle (run_bundle.h); prints JSON lines
//
// Any other failure ends it with 1, wrong arguments with 2. Kiln starts it as a worker
// (backends/workers/worker_main.h); it answers as kiln-runner does.
#include <malloc.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <string>

#include "backends/gpu/driver/gpu_process.h"
#include "backends/gpu/driver/run_bundle.h"
#include "backends/runner/protocol.h"
#include "backends/workers/frames.h"
#include "backends/workers/worker_main.h"

namespace {

int ServeRequests(const kiln::WorkerStart& start) {
  kiln::GpuProcess gpu;
  const std::string problem = start.problem.empty() ? gpu.Start() : start.problem;
  if (!kiln::WriteFrame(start.socket, problem) || !kiln::WriteFrame(start.socket, "")) return 1;
  std::string bytes;
  while (kiln::ReadFrame(start.socket, -1, kiln::kNoDeadline, &bytes) == kiln::FrameStatus::kOk) {
    kiln::RunRequest request;
    kiln::RunResult result{.status = kiln::RunStatus::kLoadFailed, .detail = "the request is malformed"};
    if (kiln::Decode(bytes, &request)) result = gpu.Run(bytes, request.limits.seconds);
    if (!kiln::WriteFrame(start.socket, kiln::Encode(result))) return 1;
  }
  return 0;
}

constexpr int kNoGpu = 3;

// Prints the problem, if there is one. Returns the exit status: `failed`, or 0 without a problem.
int Report(const std::string& problem, int failed = 1) {
  if (problem.empty()) return 0;
  fprintf(stderr, "kiln-gpu-runner: %s\n", problem.c_str());
  return failed;
}

// The size in bytes from which malloc asks the system for new pages. Smaller blocks, such as the parts in which buffers
// are copied, come from memory that the process has, so that the system need not clear pages for each.
constexpr int kLargestBlock = 64 << 20;

}  // namespace

int main(int count, char** arguments) {
  signal(SIGPIPE, SIG_IGN);
  mallopt(M_MMAP_THRESHOLD, kLargestBlock);
  mallopt(M_TRIM_THRESHOLD, 2 * kLargestBlock);
  const std::string first = count > 1 ? arguments[1] : "";
  if (first == "--machine" && count == 2) {
    kiln::GpuProcess gpu;
    const std::string problem = gpu.Start();
    if (problem.empty())  // the machine is an object, to which its state is added
      printf("%s, \"now\": %s}\n", gpu.machine().substr(0, gpu.machine().size() - 1).c_str(),
             gpu.StateNow().Json().c_str());
    return Report(problem, gpu.absent() ? kNoGpu : 1);
  }
  if (first == "--bundle" && (count == 3 || (count == 5 && strcmp(arguments[3], "--seconds") == 0)))
    return Report(kiln::RunBundle(arguments[2], count == 5 ? atof(arguments[4]) : 1e6, stdout));
  if (const auto start = kiln::EnterWorker(count, arguments)) return ServeRequests(*start);
  fprintf(stderr, "kiln-gpu-runner --machine | --bundle DIR [--seconds N]\n");
  return 2;
}
