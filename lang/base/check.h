// KILN_CHECK: an invariant of ours. When it does not hold the defect is in Kiln, and going on would hide it:
// it prints the condition, the place and the message, and aborts. Never use it for what a user gave (return
// an absl::Status).
#pragma once

#include <cstdio>
#include <cstdlib>
#include <string>

#include "absl/strings/str_cat.h"

namespace kiln::internal {

[[noreturn]] inline void CheckFailed(const char* condition, const char* file, int line,
                                     const std::string& message) {
  std::fprintf(stderr, "%s:%d: defect in Kiln: %s does not hold%s%s\n", file, line, condition,
               message.empty() ? "" : ": ", message.c_str());
  std::abort();
}

}  // namespace kiln::internal

// Further arguments are joined with absl::StrCat and appended to the message.
#define KILN_CHECK(condition, ...)                                     \
  (__builtin_expect(static_cast<bool>(condition), 1)                   \
       ? void()                                                        \
       : ::kiln::internal::CheckFailed(#condition, __FILE__, __LINE__, \
                                       ::absl::StrCat("" __VA_OPT__(, ) __VA_ARGS__)))
