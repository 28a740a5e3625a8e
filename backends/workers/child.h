// Runs a function that may crash in a forked child process. A crash, a hang or a runaway allocation becomes an error.
//
//   const SharedNote note;
//   const auto answer = RunInChild([&] { note.Set("reading"); return Encode(Read(path)); }, {.time = ..});
//
// Only the calling thread exists in the child, so call RunInChild before starting threads if possible. The answer is
// bytes (backends/workers/wire.h converts values to bytes). It must not be empty: an empty answer counts as none.
#pragma once

#include <cstdint>
#include <string>

#include "absl/functional/function_ref.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"

namespace kiln {

struct ChildLimits {
  absl::Duration time = absl::InfiniteDuration();
  int64_t memory = int64_t{8} << 30;  // bytes that it may allocate; no limit with AddressSanitizer
  bool shows_output = false;  // forwards its output to standard error when it has ended; otherwise drops it
};

// Runs `work` in a forked child within the limits, and returns its result. An exception counts as a crash with the
// exception's text.
//
// kAborted if the child crashed or ended without an answer: "Segmentation fault" or "exit status 3", and after a ';'
// the first line that the child printed, which may name the cause. kDeadlineExceeded if its time is over. kInternal if
// no child can be created. The child ignores SIGINT, SIGTERM and SIGHUP, which the caller handles
// (backends/workers/forked_child.h).
absl::StatusOr<std::string> RunInChild(absl::FunctionRef<std::string()> work, const ChildLimits& limits = {});

// A short text in memory that a forked child and its parent share. The child sets it to what it is doing, and the
// parent reads it after a crash.
class SharedNote {
 public:
  SharedNote();
  ~SharedNote();
  SharedNote(const SharedNote&) = delete;
  SharedNote& operator=(const SharedNote&) = delete;

  void Set(absl::string_view text) const;  // cuts the text after 4095 bytes
  std::string Get() const;

 private:
  char* text_;
};

}  // namespace kiln
