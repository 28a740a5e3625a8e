// Work that may crash, run in a forked child: a crash, a hang or a runaway allocation is an error of the
// caller.
//
//   const SharedNote note;
//   const auto answer = RunInChild([&] { note.Set("reading"); return Encode(Read(path)); }, {.time = ..});
//
// Only the calling thread lives on in the child: call it before starting threads where possible. The answer
// is bytes, which are never empty (backends/workers/wire.h has values as bytes).
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
  int64_t memory = int64_t{8} << 30;  // bytes that it may allocate
  bool shows_output = false;  // what it prints goes to standard error here, once it has ended; else nowhere
};

// What `work` returned in the child. It may not throw: an exception is a crash with the exception's text.
//
// kAborted: it crashed or ended without an answer; "Segmentation fault" or "exit status 3", and after a ';'
// the first line that it printed, which names the cause where there is one. kDeadlineExceeded: its time is
// over. kInternal: no child can be made. Interrupts are the caller's (backends/workers/forked_child.h).
absl::StatusOr<std::string> RunInChild(absl::FunctionRef<std::string()> work, const ChildLimits& limits = {});

// A short text that outlives the child that sets it: what it was doing when it crashed.
class SharedNote {
 public:
  SharedNote();
  ~SharedNote();
  SharedNote(const SharedNote&) = delete;
  SharedNote& operator=(const SharedNote&) = delete;

  void Set(absl::string_view text) const;  // what is too long is cut
  std::string Get() const;

 private:
  char* text_;
};

}  // namespace kiln
