#include "backends/workers/frames.h"

#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cmath>

#include "backends/workers/write_all.h"

namespace kiln {
namespace {

constexpr uint64_t kMagic = 0x314e52554e4c494b;
constexpr uint64_t kMaxFrame = uint64_t{1} << 32;

struct FrameHeader {
  uint64_t magic = kMagic;
  uint64_t length = 0;
};

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

}  // namespace kiln
