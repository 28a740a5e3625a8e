// What is wrong with a plan that runs (plan_interpreter.h).
#pragma once

#include <string>

#include "absl/strings/str_cat.h"

namespace kiln {

struct PlanFault {
  std::string what;
};

// Throws a PlanFault, which ends the run.
template <typename... T>
[[noreturn]] void Fail(const T&... what) {
  throw PlanFault{absl::StrCat(what...)};
}

}  // namespace kiln
