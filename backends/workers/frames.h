// Sends and receives frames, which carry bytes between processes of one machine and one build, through a socket or a
// pipe. A frame is a magic number, a length, and the bytes.
#pragma once

#include <chrono>
#include <string>

namespace kiln {

using Deadline = std::chrono::steady_clock::time_point;
inline constexpr Deadline kNoDeadline = Deadline::max();

Deadline SecondsFromNow(double seconds);

// Sends a frame with the bytes. Returns false if that fails, as when the other end is closed. The caller must ignore or
// block SIGPIPE.
bool WriteFrame(int fd, const std::string& bytes);

enum class FrameStatus {
  kOk,
  kClosed,       // the other end is closed, or sent something that is no frame
  kTimedOut,     // the deadline has passed
  kInterrupted,  // `stop_fd` became readable or was closed
};

// Waits for one frame and stores its bytes, until the deadline. Stops with kInterrupted once `stop_fd` is readable (-1:
// none), from which it does not read.
FrameStatus ReadFrame(int fd, int stop_fd, Deadline deadline, std::string* bytes);

}  // namespace kiln
