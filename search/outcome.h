// The classes of measurement outcomes, such as "ok" and "crashed". Failures are counted and stored under these words;
// no other place spells them. A measurer may add words of its own.
#pragma once

#include "absl/strings/string_view.h"

namespace kiln::outcome {

inline constexpr absl::string_view kOk = "ok";  // ran to the end, and no check failed
inline constexpr absl::string_view kBuildFailed = "build_failed";
inline constexpr absl::string_view kLoadFailed = "load_failed";
inline constexpr absl::string_view kCrashed = "crashed";
inline constexpr absl::string_view kTimedOut = "timed_out";
inline constexpr absl::string_view kOutOfMemory = "out_of_memory";
inline constexpr absl::string_view kWrongResult = "wrong_result";
inline constexpr absl::string_view kGuardViolated = "guard_violated";  // accessed memory outside its buffers
inline constexpr absl::string_view kNonZeroStatus = "non_zero_status";
// The measurement was stopped before it ended, which says nothing about the program. Results with this status are not
// recorded. The program is measured again when the run continues.
inline constexpr absl::string_view kInterrupted = "interrupted";

}  // namespace kiln::outcome
