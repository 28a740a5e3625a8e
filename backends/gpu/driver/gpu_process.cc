#include "backends/gpu/driver/gpu_process.h"

#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>

#include "absl/strings/str_cat.h"
#include "backends/gpu/driver/cuda_device.h"
#include "backends/gpu/driver/run_on_gpu.h"
#include "backends/runner/protocol.h"
#include "backends/workers/frames.h"

namespace kiln {
namespace {

constexpr double kStartSeconds = 60;  // to open the driver

constexpr char kAbsent[] = "absent";  // what the child sends in place of the machine if there is no GPU

// Runs in the child process and never returns: opens the GPU and reports it or the problem, then answers requests until
// the socket is closed or the GPU had a fault. Ends the process at once if the GPU cannot be opened.
[[noreturn]] void Serve(int socket) {
  CudaDevice gpu;
  const std::string problem = gpu.Open();
  bool open = WriteFrame(socket, problem) && WriteFrame(socket, problem.empty() ? gpu.machine().Json()
                                                                : gpu.absent()  ? kAbsent
                                                                                : "");
  std::string bytes;
  while (open && problem.empty() && ReadFrame(socket, -1, kNoDeadline, &bytes) == FrameStatus::kOk) {
    RunRequest request;
    RunResult result{.status = RunStatus::kLoadFailed, .detail = "the request is malformed"};
    if (Decode(bytes, &request)) result = RunOnGpu(gpu, request);
    open = WriteFrame(socket, Encode(result)) && !gpu.sticky();
  }
  _exit(0);
}

}  // namespace

std::string GpuProcess::Start() {
  if (child_ != 0) return "";
  int ends[2];
  if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0)
    return absl::StrCat("no socket: ", strerror(errno));
  const pid_t parent = getpid();
  child_ = fork();
  if (child_ == 0) {
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    close(ends[0]);
    if (getppid() == parent) Serve(ends[1]);
    _exit(0);
  }
  close(ends[1]);
  socket_ = ends[0];
  ++starts_;
  if (child_ < 0) {
    child_ = 0;
    return absl::StrCat("no process: ", strerror(errno));
  }
  std::string problem;
  const Deadline deadline = SecondsFromNow(kStartSeconds);
  if (ReadFrame(socket_, -1, deadline, &problem) != FrameStatus::kOk ||
      ReadFrame(socket_, -1, deadline, &machine_) != FrameStatus::kOk)
    problem = "the driver does not start";
  absent_ = !problem.empty() && machine_ == kAbsent;
  if (!problem.empty()) Stop();
  return problem;
}

GpuState GpuProcess::StateNow() {
  constexpr char kUuid[] = "\"uuid\": \"";
  const size_t at = machine_.find(kUuid);
  if (!watch_ && at != std::string::npos) watch_.emplace(machine_.substr(at + sizeof kUuid - 1, 32));
  return watch_ ? watch_->Now() : GpuState();
}

void GpuProcess::Stop() {
  if (socket_ >= 0) close(socket_);
  socket_ = -1;
  if (child_ == 0) return;
  kill(child_, SIGKILL);
  while (waitpid(child_, nullptr, 0) < 0 && errno == EINTR) continue;
  child_ = 0;
}

RunResult GpuProcess::Run(const std::string& request, double seconds) {
  if (std::string problem = Start(); !problem.empty())
    return {.status = RunStatus::kInterrupted, .detail = std::move(problem)};
  std::string answer;
  FrameStatus status = FrameStatus::kClosed;
  if (WriteFrame(socket_, request)) status = ReadFrame(socket_, -1, SecondsFromNow(seconds), &answer);
  RunResult result;
  if (status == FrameStatus::kOk && Decode(answer, &result)) {
    if (result.status == RunStatus::kCrashed) Stop();
    result.quiet = result.quiet && !StateNow().hot;
    return result;
  }
  if (status == FrameStatus::kTimedOut) {
    Stop();
    return {.status = RunStatus::kTimedOut, .detail = absl::StrCat("did not end within ", seconds, " s")};
  }
  int how = 0;
  close(socket_);
  socket_ = -1;
  while (waitpid(child_, &how, 0) < 0 && errno == EINTR) continue;
  child_ = 0;
  result = {.status = RunStatus::kCrashed, .detail = "the process that uses the GPU ended"};
  if (WIFSIGNALED(how)) {
    result.signal = WTERMSIG(how);
    result.detail = absl::StrCat("the process that uses the GPU was ended by ", strsignal(result.signal));
  }
  return result;
}

}  // namespace kiln
