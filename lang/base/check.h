// KILN_CHECK states an invariant of Kiln. If it does not hold, Kiln has a defect, and the macro prints the
// condition, the place and the message, and aborts. Never use it to check user input: return an
// absl::Status.
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

// KILN_CHECK(condition, ...) appends further arguments to the message, joined by absl::StrCat.
#define KILN_CHECK(condition, ...)                                     \
  (__builtin_expect(static_cast<bool>(condition), 1)                   \
       ? void()                                                        \
       : ::kiln::internal::CheckFailed(#condition, __FILE__, __LINE__, \
                                       ::absl::StrCat("" __VA_OPT__(, ) __VA_ARGS__)))
