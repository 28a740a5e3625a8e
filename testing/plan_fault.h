// The exception that ends the run of a wrong loop plan (plan_interpreter.h).
#pragma once

#include <string>

#include "absl/strings/str_cat.h"

namespace kiln {

struct PlanFault {
  std::string what;  // what is wrong
};

// Throws a PlanFault with the concatenation of the arguments.
template <typename... T>
[[noreturn]] void Fail(const T&... what) {
  throw PlanFault{absl::StrCat(what...)};
}

}  // namespace kiln
