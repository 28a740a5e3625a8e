#include "backends/workers/child.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <exception>
#include <fstream>
#include <vector>

#include "absl/cleanup/cleanup.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/time/clock.h"
#include "backends/workers/forked_child.h"
#include "backends/workers/write_all.h"
#include "lang/base/check.h"

namespace kiln {
namespace {

constexpr size_t kNoteBytes = 4096;

// Returns the size of this process's address space in bytes. Added to the child's memory limit, since it counts towards
// RLIMIT_AS.
int64_t AddressSpace() {
  int64_t pages = 0;
  std::ifstream("/proc/self/statm") >> pages;
  return pages * sysconf(_SC_PAGESIZE);
}

[[noreturn]] void TellException() {
  try {
    if (std::exception_ptr thrown = std::current_exception()) std::rethrow_exception(thrown);
  } catch (const std::exception& e) {
    std::fprintf(stderr, "exception: %s\n", e.what());
  } catch (...) {
    std::fputs("exception: its type does not derive from std::exception\n", stderr);
  }
  std::abort();
}

[[noreturn]] void Child(absl::FunctionRef<std::string()> work, const ChildLimits& limits, pid_t parent,
                        int answer, int messages) noexcept {
  EndWithParent(parent);
  for (const int number : {SIGSEGV, SIGABRT, SIGBUS, SIGFPE, SIGILL}) signal(number, SIG_DFL);
  std::set_terminate(TellException);
  dup2(messages, STDOUT_FILENO);
  dup2(messages, STDERR_FILENO);
  const auto bytes = static_cast<rlim_t>(limits.memory + AddressSpace());
  const rlimit memory{bytes, bytes}, none{0, 0};
#if !__has_feature(address_sanitizer)
  setrlimit(RLIMIT_AS, &memory);
#else
  (void)memory;
#endif
  setrlimit(RLIMIT_CORE, &none);
  const std::string bytes_of_answer = work();
  std::fflush(stdout);
  _exit(WriteAll(answer, bytes_of_answer) ? 0 : 1);
}

// Reads from the pipe until all writers have closed it. Returns false if the deadline passes before.
bool ReadAll(int from, absl::Time deadline, std::string* bytes) {
  char buffer[1 << 16];
  while (true) {
    const int64_t left = absl::ToInt64Milliseconds(deadline - absl::Now());
    if (left <= 0) return false;
    pollfd wait{from, POLLIN, 0};
    const int ready = poll(&wait, 1, static_cast<int>(std::min<int64_t>(left, 1000)));
    if (ready <= 0) continue;
    const ssize_t n = read(from, buffer, sizeof buffer);
    if (n == 0) return true;
    if (n < 0 && errno != EINTR && errno != EAGAIN) return true;
    if (n > 0) bytes->append(buffer, static_cast<size_t>(n));
  }
}

std::string FirstLine(int messages) {
  char buffer[400] = {};
  const ssize_t n = pread(messages, buffer, sizeof buffer - 1, 0);
  if (n <= 0) return "";
  return std::string(std::vector<std::string>(absl::StrSplit(buffer, '\n'))[0]);
}

void ShowAll(int messages) {
  char buffer[1 << 12];
  off_t at = 0;
  for (ssize_t n; (n = pread(messages, buffer, sizeof buffer, at)) > 0; at += n)
    WriteAll(STDERR_FILENO, absl::string_view(buffer, static_cast<size_t>(n)));
}

absl::Status Failed(const char* call) {
  return absl::InternalError(absl::StrCat(call, ": ", std::strerror(errno)));
}

}  // namespace

absl::StatusOr<std::string> RunInChild(absl::FunctionRef<std::string()> work, const ChildLimits& limits) {
  const int messages = memfd_create("kiln-child", MFD_CLOEXEC);
  if (messages < 0) return Failed("memfd_create");
  int pipes[2];
  if (pipe2(pipes, O_CLOEXEC) != 0) {
    close(messages);
    return Failed("pipe");
  }
  const absl::Cleanup close_all = [&] { close(pipes[0]), close(messages); };
  std::fflush(stdout);  // otherwise a child that calls exit() would write the buffered text again
  const pid_t parent = getpid(), child = fork();
  if (child < 0) {
    close(pipes[1]);
    return Failed("fork");
  }
  if (child == 0) Child(work, limits, parent, pipes[1], messages);
  close(pipes[1]);
  std::string bytes;
  const bool in_time = ReadAll(pipes[0], absl::Now() + limits.time, &bytes);
  if (!in_time) kill(child, SIGKILL);
  int status = 0;
  while (waitpid(child, &status, 0) < 0 && errno == EINTR) continue;
  if (limits.shows_output) ShowAll(messages);
  if (!in_time)
    return absl::DeadlineExceededError(absl::StrCat("longer than ", absl::FormatDuration(limits.time)));
  if (WIFEXITED(status) && WEXITSTATUS(status) == 0 && !bytes.empty()) return bytes;
  const std::string said = FirstLine(messages);
  return absl::AbortedError(absl::StrCat(WIFSIGNALED(status)
                                             ? strsignal(WTERMSIG(status))
                                             : absl::StrCat("exit status ", WEXITSTATUS(status)).c_str(),
                                         said.empty() ? "" : "; ", said));
}

SharedNote::SharedNote()
    : text_(static_cast<char*>(
          mmap(nullptr, kNoteBytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0))) {
  KILN_CHECK(text_ != MAP_FAILED, "no page of memory is left: ", std::strerror(errno));
}

SharedNote::~SharedNote() { munmap(text_, kNoteBytes); }

void SharedNote::Set(absl::string_view text) const {
  const size_t size = std::min(text.size(), kNoteBytes - 1);
  std::memcpy(text_, text.data(), size);
  text_[size] = '\0';
}

std::string SharedNote::Get() const { return std::string(text_, strnlen(text_, kNoteBytes)); }

}  // namespace kiln
