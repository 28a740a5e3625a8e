// How requests and results travel between processes of one machine and one build: a value becomes bytes, and
// bytes go as a frame (magic, length, bytes) through a socket or a pipe. Not a format to keep: nothing of it
// is ever stored.
#pragma once

#include <chrono>
#include <string>

#include "backends/runner/runner.h"

namespace kiln {

std::string Encode(const RunRequest& request);
std::string Encode(const RunResult& result);

// False, and an unspecified value, when the bytes are cut short, too long, or name a number out of range.
bool Decode(const std::string& bytes, RunRequest* request);
bool Decode(const std::string& bytes, RunResult* result);

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
