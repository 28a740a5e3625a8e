// The classes of outcomes of measuring, under which failures are counted and stored: the one table of their
// spellings. Words of a measurer's own are allowed beside them.
#pragma once

#include "absl/strings/string_view.h"

namespace kiln::outcome {

inline constexpr absl::string_view kOk = "ok";  // it ran, and was not found wrong
inline constexpr absl::string_view kBuildFailed = "build_failed";
inline constexpr absl::string_view kLoadFailed = "load_failed";
inline constexpr absl::string_view kCrashed = "crashed";
inline constexpr absl::string_view kTimedOut = "timed_out";
inline constexpr absl::string_view kOutOfMemory = "out_of_memory";
inline constexpr absl::string_view kWrongResult = "wrong_result";
inline constexpr absl::string_view kGuardViolated = "guard_violated";  // touched memory that is not its own
inline constexpr absl::string_view kNonZeroStatus = "non_zero_status";
// Says nothing about the program: measuring was stopped. Such results are not recorded; the program is
// measured when the run goes on.
inline constexpr absl::string_view kInterrupted = "interrupted";

}  // namespace kiln::outcome
