#include "backends/runner/protocol.h"

#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <type_traits>

#include "backends/runner/wire.h"
#include "backends/write_all.h"

namespace kiln {
namespace {

constexpr uint64_t kMagic = 0x314e52554e4c494b;
constexpr uint64_t kMaxFrame = uint64_t{1} << 32;

struct FrameHeader {
  uint64_t magic = kMagic;
  uint64_t length = 0;
};

struct RunFields {
  static void Of(auto& visit, auto& value) {
    using T = std::remove_cvref_t<decltype(value)>;
    if constexpr (std::is_same_v<T, Tolerance>) {
      visit(value.relative, value.absolute);
    } else if constexpr (std::is_same_v<T, KernelParam>) {
      visit(value.dtype, value.elements, value.role, value.data, value.tolerance, value.range);
    } else if constexpr (std::is_same_v<T, DataRange>) {
      visit(value.least, value.most, value.zero);
    } else if constexpr (std::is_same_v<T, KernelObject>) {
      visit(value.shared_object, value.symbol, value.prepare_symbol, value.threads_symbol, value.params,
            value.heap_alignment, value.product);
    } else if constexpr (std::is_same_v<T, LibraryProduct>) {
      visit(value.libraries, value.symbol, value.m, value.n, value.k, value.a_transposed, value.b_transposed,
            value.a, value.b, value.c);
    } else if constexpr (std::is_same_v<T, StopRule>) {
      visit(value.after_runs, value.over_seconds);
    } else if constexpr (std::is_same_v<T, TimingPolicy>) {
      visit(value.warmups, value.runs, value.stop_rules, value.enough_seconds, value.target_error,
            value.max_samples, value.max_seconds, value.retakes, value.cold_cache);
    } else if constexpr (std::is_same_v<T, ReferenceKernel>) {
      visit(value.kernel, value.seconds);
    } else if constexpr (std::is_same_v<T, RunLimits>) {
      visit(value.seconds, value.bytes);
    } else if constexpr (std::is_same_v<T, WideInputs>) {
      visit(value.sets, value.reference, value.write_reference_to);
    } else if constexpr (std::is_same_v<T, RunRequest>) {
      visit(value.kernel, value.peers, value.data_seed, value.threads, value.timing, value.limits,
            value.reference_kernel, value.reference, value.write_reference_to, value.wide);
    } else {
      static_assert(std::is_same_v<T, RunResult>);
      visit(value.status, value.detail, value.signal, value.seconds, value.calm, value.slowdown,
            value.least_slowdown, value.retaken, value.preempted, value.peer_seconds, value.prepare_seconds,
            value.lower_bound, value.max_error, value.taken, value.peer_taken, value.peer_preempted);
    }
  }
};

bool RolesAreKnown(const KernelObject& kernel) {
  return std::all_of(kernel.params.begin(), kernel.params.end(), [](const KernelParam& param) {
    return param.role >= KernelParam::kInput && param.role <= KernelParam::kWorkspace;
  });
}

int MillisecondsUntil(Deadline deadline) {
  if (deadline == kNoDeadline) return -1;
  const auto left = std::chrono::ceil<std::chrono::milliseconds>(deadline - std::chrono::steady_clock::now());
  return static_cast<int>(std::clamp<int64_t>(left.count(), 0, 1 << 30));
}

FrameStatus ReadExactly(int fd, int stop_fd, Deadline deadline, char* out, size_t size) {
  while (size > 0) {
    pollfd watched[2] = {{fd, POLLIN, 0}, {stop_fd, POLLIN, 0}};
    const int ready = poll(watched, 2, MillisecondsUntil(deadline));
    if (ready < 0 && errno == EINTR) continue;
    if (ready == 0) return FrameStatus::kTimedOut;
    if (watched[1].revents != 0) return FrameStatus::kInterrupted;
    const ssize_t got = read(fd, out, size);
    if (got < 0 && (errno == EINTR || errno == EAGAIN)) continue;
    if (got <= 0) return FrameStatus::kClosed;
    out += got;
    size -= static_cast<size_t>(got);
  }
  return FrameStatus::kOk;
}

}  // namespace

std::string Encode(const RunRequest& request) { return WireEncode<RunFields>(request); }
std::string Encode(const RunResult& result) { return WireEncode<RunFields>(result); }

bool Decode(const std::string& bytes, RunRequest* request) {
  return WireDecode<RunFields>(bytes, request) && RolesAreKnown(request->kernel) &&
         std::all_of(request->peers.begin(), request->peers.end(), RolesAreKnown);
}

bool Decode(const std::string& bytes, RunResult* result) {
  return WireDecode<RunFields>(bytes, result) && result->status >= RunStatus::kOk &&
         result->status <= RunStatus::kInterrupted;
}

Deadline SecondsFromNow(double seconds) {
  const double bounded = std::isfinite(seconds) ? std::clamp(seconds, 0.0, 1e6) : 1e6;
  return std::chrono::steady_clock::now() + std::chrono::duration_cast<std::chrono::steady_clock::duration>(
                                                std::chrono::duration<double>(bounded));
}

bool WriteFrame(int fd, const std::string& bytes) {
  const FrameHeader header{.length = bytes.size()};
  return WriteAll(fd, {reinterpret_cast<const char*>(&header), sizeof(header)}) && WriteAll(fd, bytes);
}

FrameStatus ReadFrame(int fd, int stop_fd, Deadline deadline, std::string* bytes) {
  FrameHeader header;
  FrameStatus status = ReadExactly(fd, stop_fd, deadline, reinterpret_cast<char*>(&header), sizeof(header));
  if (status != FrameStatus::kOk) return status;
  if (header.magic != kMagic || header.length > kMaxFrame) return FrameStatus::kClosed;
  bytes->resize(header.length);
  return ReadExactly(fd, stop_fd, deadline, bytes->data(), header.length);
}

const char* RunStatusName(RunStatus status) {
  switch (status) {
    case RunStatus::kOk:
      return "ok";
    case RunStatus::kCrashed:
      return "crashed";
    case RunStatus::kTimedOut:
      return "timed-out";
    case RunStatus::kOutOfMemory:
      return "out-of-memory";
    case RunStatus::kWrongResult:
      return "wrong-result";
    case RunStatus::kLoadFailed:
      return "load-failed";
    case RunStatus::kGuardViolated:
      return "guard-violated";
    case RunStatus::kNonZeroStatus:
      return "non-zero-status";
    case RunStatus::kInterrupted:
      return "interrupted";
  }
  return "unknown";
}

}  // namespace kiln
