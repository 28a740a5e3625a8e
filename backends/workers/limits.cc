#include "backends/workers/limits.h"

#include <fcntl.h>
#include <linux/prctl.h>
#include <sched.h>
#include <seccomp.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <thread>

namespace kiln {
namespace {

constexpr int64_t kReservedBytes = int64_t{16} << 30;  // for address space without memory: arenas, libraries
constexpr uint64_t kOpenFiles = 64;
constexpr bool kSanitized = __has_feature(address_sanitizer);  // it takes terabytes of address space

constexpr int kAllowed[] = {
    SCMP_SYS(access),
    SCMP_SYS(arch_prctl),
    SCMP_SYS(brk),
    SCMP_SYS(clock_getres),
    SCMP_SYS(clock_gettime),
    SCMP_SYS(clock_nanosleep),
    SCMP_SYS(close),
    SCMP_SYS(exit),
    SCMP_SYS(exit_group),
    SCMP_SYS(faccessat),
    SCMP_SYS(faccessat2),
    SCMP_SYS(fcntl),
    SCMP_SYS(fstat),
    SCMP_SYS(futex),
    SCMP_SYS(getcpu),
    SCMP_SYS(getcwd),
    SCMP_SYS(getdents64),
    SCMP_SYS(getegid),
    SCMP_SYS(geteuid),
    SCMP_SYS(getgid),
    SCMP_SYS(getpid),
    SCMP_SYS(getppid),
    SCMP_SYS(getrandom),
    SCMP_SYS(getrlimit),
    SCMP_SYS(getrusage),
    SCMP_SYS(gettid),
    SCMP_SYS(gettimeofday),
    SCMP_SYS(getuid),
    SCMP_SYS(lseek),
    SCMP_SYS(lstat),
    SCMP_SYS(madvise),
    SCMP_SYS(membarrier),
    SCMP_SYS(mincore),
    SCMP_SYS(mmap),
    SCMP_SYS(mprotect),
    SCMP_SYS(mremap),
    SCMP_SYS(munmap),
    SCMP_SYS(nanosleep),
    SCMP_SYS(newfstatat),
    SCMP_SYS(poll),
    SCMP_SYS(ppoll),
    SCMP_SYS(pread64),
    SCMP_SYS(read),
    SCMP_SYS(readlink),
    SCMP_SYS(readlinkat),
    SCMP_SYS(readv),
    SCMP_SYS(restart_syscall),
    SCMP_SYS(rseq),
    SCMP_SYS(rt_sigaction),
    SCMP_SYS(rt_sigprocmask),
    SCMP_SYS(rt_sigreturn),
    SCMP_SYS(sched_getaffinity),
    SCMP_SYS(sched_setaffinity),
    SCMP_SYS(sched_yield),
    SCMP_SYS(set_robust_list),
    SCMP_SYS(set_tid_address),
    SCMP_SYS(sigaltstack),
    SCMP_SYS(stat),
    SCMP_SYS(statx),
    SCMP_SYS(sysinfo),
    SCMP_SYS(time),
    SCMP_SYS(uname),
    SCMP_SYS(write),
    SCMP_SYS(writev),
};

void Limit(__rlimit_resource resource, uint64_t value, uint64_t hard_margin = 0) {
  const rlimit limit = {value, value + hard_margin};
  setrlimit(resource, &limit);
}

enum StatmField { kSize = 0, kData = 5 };  // positions in /proc/PID/statm

int64_t StatmBytes(StatmField field) {
  int64_t pages[7] = {};
  if (FILE* file = std::fopen("/proc/self/statm", "re")) {
    for (int64_t& value : pages) {
      if (std::fscanf(file, "%ld", &value) != 1) break;
    }
    std::fclose(file);
  }
  return pages[field] * sysconf(_SC_PAGESIZE);
}

class Filter {
 public:
  Filter() : context_(seccomp_init(SCMP_ACT_ERRNO(EPERM))) {}
  ~Filter() { seccomp_release(context_); }

  template <typename... Comparison>
  void Allow(int call, Comparison... only_if) {
    Add(SCMP_ACT_ALLOW, call, only_if...);
  }
  template <typename... Comparison>
  void Add(uint32_t action, int call, Comparison... only_if) {
    if (error_ == 0) error_ = seccomp_rule_add(context_, action, call, sizeof...(only_if), only_if...);
  }
  int Load() {
    if (error_ == 0) error_ = seccomp_attr_set(context_, SCMP_FLTATR_CTL_SSB, 1);
    if (error_ == 0) error_ = seccomp_attr_set(context_, SCMP_FLTATR_CTL_TSYNC, 1);  // all threads
    return error_ != 0 ? error_ : seccomp_load(context_);
  }

 private:
  scmp_filter_ctx context_;
  int error_ = 0;
};

constexpr scmp_arg_cmp Argument(unsigned index, scmp_compare compare, uint64_t a, uint64_t b = 0) {
  return {index, compare, a, b};
}

}  // namespace

void SetLimits(double seconds, int64_t bytes, int64_t file_bytes) {
  const double cores = std::max(1u, std::thread::hardware_concurrency());
  Limit(RLIMIT_CPU, static_cast<uint64_t>(std::ceil(seconds * cores)) + 1, 1);
  Limit(RLIMIT_FSIZE, static_cast<uint64_t>(file_bytes));
  Limit(RLIMIT_CORE, 0);
  Limit(RLIMIT_NOFILE, kOpenFiles);
  if (kSanitized) return;
  Limit(RLIMIT_DATA, static_cast<uint64_t>(StatmBytes(kData) + bytes));
  Limit(RLIMIT_AS, static_cast<uint64_t>(StatmBytes(kSize) + bytes + kReservedBytes));
}

std::string RestrictSystemCalls() {
  const auto self = static_cast<uint64_t>(getpid());
  constexpr uint64_t kRequestPermission = 0x1023;  // ARCH_REQ_XCOMP_PERM
  constexpr uint64_t kWriting = O_WRONLY | O_RDWR | O_CREAT | O_TRUNC | O_APPEND;
  Filter filter;
  for (int call : kAllowed) filter.Allow(call);
  filter.Allow(SCMP_SYS(open), Argument(1, SCMP_CMP_MASKED_EQ, kWriting, 0));
  filter.Allow(SCMP_SYS(openat), Argument(2, SCMP_CMP_MASKED_EQ, kWriting, 0));
  filter.Allow(SCMP_SYS(clone), Argument(0, SCMP_CMP_MASKED_EQ, CLONE_THREAD, CLONE_THREAD));
  filter.Add(SCMP_ACT_ERRNO(ENOSYS), SCMP_SYS(clone3));
  filter.Allow(SCMP_SYS(kill), Argument(0, SCMP_CMP_EQ, self));
  filter.Allow(SCMP_SYS(tgkill), Argument(0, SCMP_CMP_EQ, self));
  filter.Allow(SCMP_SYS(prctl), Argument(0, SCMP_CMP_EQ, PR_SET_NAME));
  filter.Allow(SCMP_SYS(prctl), Argument(0, SCMP_CMP_EQ, PR_SET_VMA));
  filter.Allow(SCMP_SYS(arch_prctl), Argument(0, SCMP_CMP_EQ, kRequestPermission));  // for a matrix unit
  filter.Allow(SCMP_SYS(prlimit64), Argument(2, SCMP_CMP_EQ, 0));
  const int error = filter.Load();
  return error == 0 ? "" : std::string("system calls are not restricted: ") + std::strerror(-error);
}

}  // namespace kiln
