#include "backends/runner/process.h"

#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <utility>

#include "absl/cleanup/cleanup.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "backends/runner/protocol.h"

namespace kiln {
namespace {

constexpr int kRunnerSocket = 3;
constexpr double kStartSeconds = 20;
constexpr double kEndSeconds = 1;
constexpr timeval kSendTimeout = {5, 0};

std::string HowItEnded(int wait_status) {
  if (WIFSIGNALED(wait_status)) return absl::StrCat("was ended by SIG", sigabbrev_np(WTERMSIG(wait_status)));
  return absl::StrCat("ended with status ", WEXITSTATUS(wait_status));
}

int SpawnWithSocket(const std::string& path, const std::vector<int>& cores, int socket, pid_t* pid) {
  posix_spawn_file_actions_t actions;
  posix_spawnattr_t attributes;
  posix_spawn_file_actions_init(&actions);
  posix_spawnattr_init(&attributes);
  const absl::Cleanup destroy = [&] {
    posix_spawn_file_actions_destroy(&actions);
    posix_spawnattr_destroy(&attributes);
  };
  posix_spawn_file_actions_adddup2(&actions, socket, kRunnerSocket);
  posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, "/dev/null", O_WRONLY, 0);
  sigset_t none, defaults;
  sigemptyset(&none);
  sigemptyset(&defaults);
  for (int signal_number : {SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGPIPE, SIGCHLD})
    sigaddset(&defaults, signal_number);
  posix_spawnattr_setsigmask(&attributes, &none);
  posix_spawnattr_setsigdefault(&attributes, &defaults);
  posix_spawnattr_setpgroup(&attributes, 0);
  posix_spawnattr_setflags(&attributes,
                           POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETPGROUP);
  std::string arguments[] = {path, absl::StrCat(kRunnerSocket), absl::StrCat(getpid()),
                             absl::StrJoin(cores, ",")};
  char* argv[] = {arguments[0].data(), arguments[1].data(), arguments[2].data(), arguments[3].data(),
                  nullptr};
  return posix_spawn(pid, path.c_str(), &actions, &attributes, argv, environ);
}

bool WaitFor(pid_t pid, Deadline deadline, int* wait_status) {
  for (;;) {
    const pid_t waited = waitpid(pid, wait_status, WNOHANG);
    if (waited == pid || (waited < 0 && errno == ECHILD)) return true;
    if (std::chrono::steady_clock::now() >= deadline) return false;
    usleep(500);
  }
}

}  // namespace

RunnerProcess::RunnerProcess(std::string path, std::vector<int> cores, int stop_fd, double grace_seconds)
    : path_(std::move(path)), cores_(std::move(cores)), stop_fd_(stop_fd), grace_seconds_(grace_seconds) {}

RunnerProcess::~RunnerProcess() { Stop(); }

absl::Status RunnerProcess::Spawn() {
  int ends[2];
  if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0) {
    return absl::FailedPreconditionError(absl::StrCat("no socket for a runner: ", std::strerror(errno)));
  }
  setsockopt(ends[0], SOL_SOCKET, SO_SNDTIMEO, &kSendTimeout, sizeof(kSendTimeout));
  pid_t pid = 0;
  const int error = SpawnWithSocket(path_, cores_, ends[1], &pid);
  close(ends[1]);
  if (error != 0) {
    close(ends[0]);
    return absl::FailedPreconditionError(absl::StrCat("cannot start ", path_, ": ", std::strerror(error)));
  }
  socket_ = ends[0];
  pid_ = pid;
  return absl::OkStatus();
}

absl::Status RunnerProcess::Start(std::string* remark) {
  if (absl::Status status = Spawn(); !status.ok()) return status;
  const Deadline deadline = SecondsFromNow(kStartSeconds);
  std::string problem;
  if (ReadFrame(socket_, stop_fd_, deadline, &problem) != FrameStatus::kOk ||
      ReadFrame(socket_, stop_fd_, deadline, remark) != FrameStatus::kOk) {
    problem = "it does not answer";
  }
  if (problem.empty()) return absl::OkStatus();
  Stop();
  return absl::FailedPreconditionError(absl::StrCat(path_, " does not work: ", problem));
}

RunResult RunnerProcess::GiveUp(const std::string& why) {
  Stop();
  return {.status = RunStatus::kInterrupted, .detail = why};
}

RunResult RunnerProcess::Run(const RunRequest& request) {
  std::string remark;
  if (pid_ == 0) {
    if (const absl::Status status = Start(&remark); !status.ok())
      return GiveUp(std::string(status.message()));
  }
  const Deadline deadline = SecondsFromNow(request.limits.seconds + grace_seconds_);
  std::string bytes;
  FrameStatus status = FrameStatus::kClosed;
  if (WriteFrame(socket_, Encode(request))) status = ReadFrame(socket_, stop_fd_, deadline, &bytes);
  RunResult result;
  switch (status) {
    case FrameStatus::kOk:
      return Decode(bytes, &result) ? result : GiveUp("the runner process gave a malformed answer");
    case FrameStatus::kTimedOut:
      return GiveUp("the runner process does not answer");
    case FrameStatus::kInterrupted:
      return GiveUp("stopped");
    case FrameStatus::kClosed:
      break;
  }
  int wait_status = 0;
  if (WaitFor(pid_, SecondsFromNow(kEndSeconds), &wait_status)) {
    pid_ = 0;
    return GiveUp(absl::StrCat("the runner process ", HowItEnded(wait_status)));
  }
  return GiveUp("the runner process does not read");
}

void RunnerProcess::Stop() {
  if (socket_ >= 0) close(socket_);
  socket_ = -1;
  const pid_t pid = pid_;
  if (pid == 0) return;
  int wait_status = 0;
  if (!WaitFor(pid, SecondsFromNow(kEndSeconds), &wait_status)) {
    kill(-pid, SIGKILL);
    kill(pid, SIGKILL);
    waitpid(pid, &wait_status, 0);
  }
  pid_ = 0;
}

}  // namespace kiln
