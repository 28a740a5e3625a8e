// Frames: how bytes travel between processes of one machine and one build, through a socket or a pipe. A
// frame is a magic number, a length, and the bytes.
#pragma once

#include <chrono>
#include <string>

namespace kiln {

using Deadline = std::chrono::steady_clock::time_point;
inline constexpr Deadline kNoDeadline = Deadline::max();

Deadline SecondsFromNow(double seconds);

// False when the other end is gone. The caller ignores or blocks SIGPIPE.
bool WriteFrame(int fd, const std::string& bytes);

enum class FrameStatus {
  kOk,
  kClosed,       // the other end is gone, or sent what is no frame
  kTimedOut,     // the deadline has passed
  kInterrupted,  // `stop_fd` became readable or was closed
};

// Waits for one frame. `stop_fd` is watched, not read; -1: none.
FrameStatus ReadFrame(int fd, int stop_fd, Deadline deadline, std::string* bytes);

}  // namespace kiln
