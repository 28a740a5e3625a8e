#include "backends/workers/worker_process.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <utility>

#include "absl/cleanup/cleanup.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "build_info.h"

namespace kiln {
namespace {

constexpr int kWorkerSocket = 3;
constexpr double kStartSeconds = 20;
constexpr double kEndSeconds = 1;
constexpr timeval kSendTimeout = {5, 0};

int SpawnWithSocket(const std::string& path, const std::vector<int>& cores, int socket, int error_file,
                    pid_t* pid) {
  posix_spawn_file_actions_t actions;
  posix_spawnattr_t attributes;
  posix_spawn_file_actions_init(&actions);
  posix_spawnattr_init(&attributes);
  const absl::Cleanup destroy = [&] {
    posix_spawn_file_actions_destroy(&actions);
    posix_spawnattr_destroy(&attributes);
  };
  if (error_file >= 0) posix_spawn_file_actions_adddup2(&actions, error_file, STDERR_FILENO);
  posix_spawn_file_actions_adddup2(&actions, socket, kWorkerSocket);
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
  std::string arguments[] = {path, absl::StrCat(kWorkerSocket), absl::StrCat(getpid()),
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

std::string HowItEnded(int wait_status) {
  if (WIFSIGNALED(wait_status)) return absl::StrCat("was ended by SIG", sigabbrev_np(WTERMSIG(wait_status)));
  return absl::StrCat("ended with status ", WEXITSTATUS(wait_status));
}

absl::StatusOr<std::string> FindProgram(const std::string& name) {
  std::error_code error;
  const auto folder = std::filesystem::read_symlink("/proc/self/exe", error).parent_path();
  Dl_info library{};  // the library with this code, if Kiln is linked as one
  dladdr(reinterpret_cast<const void*>(&FindProgram), &library);
  const auto installed =
      std::filesystem::path(library.dli_fname == nullptr ? "" : library.dli_fname).parent_path() /
      KILN_BIN_DIR;
  for (const auto& place : {folder, folder.parent_path(), installed}) {
    const auto program = place / name;
    if (!error && access(program.c_str(), X_OK) == 0) return program.lexically_normal().string();
  }
  return absl::FailedPreconditionError(absl::StrCat(name, " is neither in ", folder.string(),
                                                    " nor in the folder above it nor in ",
                                                    installed.lexically_normal().string()));
}

WorkerProcess::WorkerProcess(std::string path, std::vector<int> cores, int stop_fd, bool keep_stderr)
    : path_(std::move(path)), cores_(std::move(cores)), stop_fd_(stop_fd) {
  if (keep_stderr) stderr_ = memfd_create("kiln-stderr", MFD_CLOEXEC);
  if (stderr_ >= 0) fcntl(stderr_, F_SETFL, O_APPEND);
}

WorkerProcess::~WorkerProcess() {
  Stop();
  if (stderr_ >= 0) close(stderr_);
}

absl::Status WorkerProcess::Spawn() {
  int ends[2];
  if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0) {
    return absl::FailedPreconditionError(absl::StrCat("no socket for ", path_, ": ", std::strerror(errno)));
  }
  setsockopt(ends[0], SOL_SOCKET, SO_SNDTIMEO, &kSendTimeout, sizeof(kSendTimeout));
  pid_t pid = 0;
  const int error = SpawnWithSocket(path_, cores_, ends[1], stderr_, &pid);
  close(ends[1]);
  if (error != 0) {
    close(ends[0]);
    return absl::FailedPreconditionError(absl::StrCat("cannot start ", path_, ": ", std::strerror(error)));
  }
  socket_ = ends[0];
  pid_ = pid;
  return absl::OkStatus();
}

absl::Status WorkerProcess::Start(std::string* remark) {
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

WorkerProcess::Answer WorkerProcess::Ask(const std::string& request, double seconds) {
  const Deadline deadline = SecondsFromNow(seconds);
  if (stderr_ >= 0) static_cast<void>(!ftruncate(stderr_, 0));
  Answer answer;
  if (WriteFrame(socket_, request)) answer.status = ReadFrame(socket_, stop_fd_, deadline, &answer.bytes);
  if (answer.status == FrameStatus::kOk) return answer;
  if (answer.status == FrameStatus::kClosed &&
      WaitFor(pid_, SecondsFromNow(kEndSeconds), &answer.wait_status)) {
    answer.ended = true;
    pid_ = 0;
  }
  Stop();
  return answer;
}

void WorkerProcess::Stop() {
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

std::string WorkerProcess::LastWords() const {
  char text[2000];
  const ssize_t size = stderr_ < 0 ? 0 : pread(stderr_, text, sizeof(text), 0);
  return size <= 0 ? "" : std::string(text, static_cast<size_t>(size));
}

}  // namespace kiln
