#include "backends/runner/zygote.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <new>
#include <optional>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "backends/runner/child.h"
#include "backends/runner/protocol.h"
#include "backends/workers/frames.h"
#include "backends/workers/limits.h"

namespace kiln {
namespace {

constexpr char kRoles[][10] = {"input", "constant", "scalar", "output", "prepared", "workspace"};
constexpr double kEndSeconds = 1;  // grace period for a child that has closed its end of the pipe

std::string Where(const RunNote& note) {
  switch (note.phase) {
    case RunPhase::kSetup:
      return "before it was loaded";
    case RunPhase::kLoad:
      return "while it was loaded";
    case RunPhase::kPrepare:
      return "in prepare";
    case RunPhase::kWarmup:
      return "in the warm-up";
    case RunPhase::kTiming:
      return absl::StrCat("in timed run ", note.samples + 1);
  }
  return "";
}

std::string DescribeGuard(const RunNote& note, const RunRequest& request) {
  const auto position = static_cast<size_t>(note.param);
  std::string param = note.param < 0 ? "a temporary" : absl::StrCat("parameter ", position);
  if (position < request.kernel.params.size()) {
    const KernelParam& found = request.kernel.params[position];
    absl::StrAppend(&param, " (", kRoles[found.role], ", ", found.elements, " of ", found.dtype, ")");
  }
  const int64_t offset = note.offset;
  switch (note.fault) {
    case FaultKind::kPastEnd:
      return absl::StrCat("access ", offset, " bytes past the end of ", param);
    case FaultKind::kBeforeStart:
      return absl::StrCat("access ", -offset, " bytes before ", param);
    default:
      return absl::StrCat("write to byte ", offset, " of ", param, ", which is read-only");
  }
}

RunResult Died(int signal_number, const RunNote& note, const RunRequest& request) {
  RunResult result{.status = RunStatus::kCrashed, .signal = signal_number};
  const std::string name = absl::StrCat("SIG", sigabbrev_np(signal_number));
  const FaultKind fault = note.fault;
  if (signal_number == SIGKILL) {
    result.status = RunStatus::kInterrupted;
    result.detail = "killed from outside, perhaps because the system ran out of memory";
  } else if (signal_number == SIGXCPU) {
    result.status = RunStatus::kTimedOut;
    result.detail = "used too much processor time";
  } else if (fault != FaultKind::kNone && fault != FaultKind::kElsewhere) {
    result.status = RunStatus::kGuardViolated;
    result.detail = DescribeGuard(note, request);
  } else if (note.allocation_refused) {
    result.status = RunStatus::kOutOfMemory;
    result.detail =
        absl::StrCat(name, " after an allocation beyond ", request.limits.bytes, " bytes was refused");
  } else if (fault == FaultKind::kElsewhere) {
    result.detail = absl::StrFormat("%s at address 0x%x", name, note.address.load());
  } else {
    result.detail = name;
  }
  absl::StrAppend(&result.detail, ", ", Where(note));
  return result;
}

RunResult Ended(int wait_status, const RunNote& note, const RunRequest& request) {
  if (WIFSIGNALED(wait_status)) return Died(WTERMSIG(wait_status), note, request);
  return {
      .status = RunStatus::kCrashed,
      .detail = absl::StrCat("ended its process with status ", WEXITSTATUS(wait_status), ", ", Where(note))};
}

std::optional<int> WaitUntil(pid_t child, Deadline deadline) {
  for (;;) {
    int wait_status = 0;
    if (waitpid(child, &wait_status, WNOHANG) == child) return wait_status;
    if (std::chrono::steady_clock::now() >= deadline) return std::nullopt;
    usleep(500);
  }
}

void KillAndWait(pid_t child) {
  kill(-child, SIGKILL);
  kill(child, SIGKILL);
  while (waitpid(child, nullptr, 0) < 0 && errno == EINTR) {
  }
}

void BecomeChild(pid_t parent) {
  setpgid(0, 0);
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (getppid() != parent) _exit(1);
  signal(SIGPIPE, SIG_DFL);
  signal(SIGXFSZ, SIG_IGN);
  const int nowhere = open("/dev/null", O_RDWR | O_CLOEXEC);
  for (int stream = 0; stream <= 2; ++stream) dup2(nowhere, stream);
  close(nowhere);
  if (const int oom = open("/proc/self/oom_score_adj", O_WRONLY | O_CLOEXEC); oom >= 0) {
    static_cast<void>(!write(oom, "1000", 4));
    close(oom);
  }
}

// Forks a child that runs the request, and returns its result, or how it died. The status is kInterrupted if no pipe or
// process can be made. Returns nullopt, and ends the child, if the other end of the socket is closed.
std::optional<RunResult> RunInChild(const RunRequest& request, int socket, RunNote* note) {
  const Deadline deadline = SecondsFromNow(request.limits.seconds);
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0)
    return RunResult{.detail = absl::StrCat("no pipe: ", std::strerror(errno))};
  const pid_t parent = getpid();
  const pid_t child = fork();
  if (child < 0) {
    close(ends[0]);
    close(ends[1]);
    return RunResult{.detail = absl::StrCat("no process: ", std::strerror(errno))};
  }
  if (child == 0) {
    BecomeChild(parent);
    close(socket);
    close(ends[0]);
    RunAndExit(request, ends[1], note);
  }
  setpgid(child, child);
  close(ends[1]);
  std::string bytes;
  const FrameStatus status = ReadFrame(ends[0], socket, deadline, &bytes);
  close(ends[0]);
  std::optional<int> wait_status;
  if (status == FrameStatus::kClosed) wait_status = WaitUntil(child, SecondsFromNow(kEndSeconds));
  if (!wait_status) KillAndWait(child);
  RunResult result;
  if (status == FrameStatus::kInterrupted) return std::nullopt;
  if (status == FrameStatus::kOk && Decode(bytes, &result)) return result;
  if (status == FrameStatus::kTimedOut) {
    return RunResult{
        .status = RunStatus::kTimedOut,
        .detail = absl::StrFormat("not done after %g s, %s", request.limits.seconds, Where(*note))};
  }
  if (!wait_status)
    return RunResult{.status = RunStatus::kCrashed, .detail = "gave no result, " + Where(*note)};
  return Ended(*wait_status, *note, request);
}

std::string WhyUnread(const std::string& bytes) {
  if (absl::StartsWith(bytes, kRunProtocol)) return "the request is malformed";
  return absl::StrCat("the request is not \"", absl::StripTrailingAsciiWhitespace(kRunProtocol),
                      "\": kiln and kiln-runner come from different builds");
}

// Calls RestrictSystemCalls in a child process, and returns its remark: "", or why this machine cannot restrict system
// calls.
std::string TryRestriction() {
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0) return "";
  const pid_t child = fork();
  if (child == 0) {
    WriteFrame(ends[1], RestrictSystemCalls());
    _exit(0);
  }
  close(ends[1]);
  std::string remark;
  ReadFrame(ends[0], -1, SecondsFromNow(kEndSeconds), &remark);
  close(ends[0]);
  if (child > 0) KillAndWait(child);
  return remark;
}

}  // namespace

int ServeRequests(int socket, const std::string& error) {
  signal(SIGPIPE, SIG_IGN);
  if (!WriteFrame(socket, error) || !WriteFrame(socket, TryRestriction())) return 1;
  void* shared = mmap(nullptr, sizeof(RunNote), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (shared == MAP_FAILED) return 1;
  std::string bytes;
  while (ReadFrame(socket, -1, kNoDeadline, &bytes) == FrameStatus::kOk) {
    RunRequest request;
    std::optional<RunResult> result;
    if (Decode(bytes, &request)) {
      bytes = {};
      result = RunInChild(request, socket, new (shared) RunNote);
    } else {
      result = RunResult{.status = RunStatus::kLoadFailed, .detail = WhyUnread(bytes)};
    }
    if (!result || !WriteFrame(socket, Encode(*result))) break;
  }
  return 0;
}

}  // namespace kiln
