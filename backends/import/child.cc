#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <fstream>
#include <iterator>

#include "absl/cleanup/cleanup.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/time/clock.h"
#include "backends/import/import.h"
#include "backends/write_all.h"
#include "lang/serialize.h"

namespace kiln {
namespace {

// What the child sends: texts, each behind its length. First the error ("" for none) and "nothing" where
// there is nothing to do, or nothing, the program and the boundaries.
void Put(absl::string_view text, std::string* bytes) {
  const uint64_t size = text.size();
  bytes->append(reinterpret_cast<const char*>(&size), sizeof size);
  bytes->append(text.data(), text.size());
}

bool Get(absl::string_view* bytes, std::string* text) {
  uint64_t size;
  if (bytes->size() < sizeof size) return false;
  std::memcpy(&size, bytes->data(), sizeof size);
  bytes->remove_prefix(sizeof size);
  if (bytes->size() < size) return false;
  *text = std::string(bytes->substr(0, size));
  bytes->remove_prefix(size);
  return true;
}

std::string Encode(const absl::StatusOr<Imported>& imported) {
  std::string bytes;
  Put(imported.ok() ? "" : imported.status().message(), &bytes);
  Put(absl::IsOutOfRange(imported.status()) ? "nothing" : "", &bytes);
  if (!imported.ok()) return bytes;
  Put(Serialize(imported->program), &bytes);
  for (const Boundary& b : imported->boundaries) {
    for (const auto* text : {&b.location, &b.op, &b.reason}) Put(*text, &bytes);
    for (const auto* list : {&b.results, &b.operands}) {
      Put(absl::StrCat(list->size()), &bytes);
      for (const std::string& name : *list) Put(name, &bytes);
    }
  }
  return bytes;
}

absl::StatusOr<Imported> Decode(absl::string_view bytes, const std::string& path) {
  const auto cut = absl::InvalidArgumentError(
      absl::StrCat(path, ": the importing process ended in the middle of its answer"));
  std::string error, nothing, program;
  if (!Get(&bytes, &error) || !Get(&bytes, &nothing)) return cut;
  if (!nothing.empty()) return absl::OutOfRangeError(error);
  if (!error.empty()) return absl::InvalidArgumentError(error);
  if (!Get(&bytes, &program)) return cut;
  auto read = Deserialize(program);
  if (!read.ok()) return read.status();
  Imported imported{*std::move(read), {}};
  while (!bytes.empty()) {
    Boundary& b = imported.boundaries.emplace_back();
    for (auto* text : {&b.location, &b.op, &b.reason}) {
      if (!Get(&bytes, text)) return cut;
    }
    for (auto* list : {&b.results, &b.operands}) {
      std::string count;
      int64_t n;
      if (!Get(&bytes, &count) || !absl::SimpleAtoi(count, &n)) return cut;
      for (int64_t i = 0; i < n; ++i) {
        if (!Get(&bytes, &list->emplace_back())) return cut;
      }
    }
  }
  return imported;
}

absl::StatusOr<Imported> ReadAndImport(const std::string& path, const ImportOptions& options) {
  errno = 0;
  std::ifstream file(path, std::ios::binary);
  std::string text{std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
  if (!file.good() && !file.eof()) {
    return absl::InvalidArgumentError(
        absl::StrCat(path, ": ", errno ? std::strerror(errno) : "cannot be read"));
  }
  return ImportLinalg(text, options.name.empty() ? path : options.name, options);
}

// Bytes mapped by this process, which the limit on the address space counts too.
int64_t AddressSpace() {
  int64_t pages = 0;
  std::ifstream("/proc/self/statm") >> pages;
  return pages * sysconf(_SC_PAGESIZE);
}

[[noreturn]] void Child(const std::string& path, const ImportOptions& options, int answer,
                        int messages) noexcept {
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  for (const int number : {SIGSEGV, SIGABRT, SIGBUS, SIGFPE, SIGILL, SIGINT, SIGTERM})
    signal(number, SIG_DFL);
  dup2(messages, STDERR_FILENO);
  const auto bytes = static_cast<rlim_t>(options.memory_limit + AddressSpace());
  const rlimit memory{bytes, bytes}, none{0, 0};
#if !__has_feature(address_sanitizer)
  setrlimit(RLIMIT_AS, &memory);
#else
  (void)memory;
#endif
  setrlimit(RLIMIT_CORE, &none);
  if (options.in_child) options.in_child();
  const std::string encoded = Encode(ReadAndImport(path, options));
  _exit(WriteAll(answer, encoded) ? 0 : 1);
}

// Everything that comes before the end of the pipe; false when the time is over.
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

// The first line that the child printed before it died, which names the cause where there is one.
std::string FirstLine(int messages) {
  char buffer[400] = {};
  const ssize_t n = pread(messages, buffer, sizeof buffer - 1, 0);
  if (n <= 0) return "";
  return std::string(std::vector<std::string>(absl::StrSplit(buffer, '\n'))[0]);
}

}  // namespace

absl::StatusOr<Imported> ImportFile(const std::string& path, const ImportOptions& options) {
  int pipes[2];
  if (pipe2(pipes, O_CLOEXEC) != 0) return absl::InternalError(absl::StrCat("pipe: ", std::strerror(errno)));
  const int messages = memfd_create("kiln-import", MFD_CLOEXEC);
  const absl::Cleanup close_all = [&] { close(pipes[0]), close(messages); };
  const pid_t child = fork();
  if (child < 0) {
    close(pipes[1]);
    return absl::InternalError(absl::StrCat("fork: ", std::strerror(errno)));
  }
  if (child == 0) Child(path, options, pipes[1], messages);
  close(pipes[1]);
  std::string bytes;
  const bool in_time = ReadAll(pipes[0], absl::Now() + options.time_limit, &bytes);
  if (!in_time) kill(child, SIGKILL);
  int status = 0;
  while (waitpid(child, &status, 0) < 0 && errno == EINTR) continue;
  if (!in_time) {
    return absl::InvalidArgumentError(
        absl::StrCat(path, ": importing took longer than ", absl::FormatDuration(options.time_limit)));
  }
  if (WIFEXITED(status) && WEXITSTATUS(status) == 0) return Decode(bytes, path);
  const std::string how =
      WIFSIGNALED(status) ? strsignal(WTERMSIG(status)) : absl::StrCat("exit status ", WEXITSTATUS(status));
  const std::string said = FirstLine(messages);
  return absl::InvalidArgumentError(absl::StrCat(path, ": the importer crashed on this file (", how,
                                                 said.empty() ? "" : "; ", said,
                                                 ")\n  hint: check that mlir-opt of LLVM 22 reads it"));
}

}  // namespace kiln
