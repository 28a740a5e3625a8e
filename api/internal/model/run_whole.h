// Runs a library of a model in a process of its own, which ends early if the user interrupts.
#pragma once

#include <optional>
#include <string>
#include <utility>

#include "absl/status/statusor.h"
#include "api/internal/stop.h"
#include "backends/vendor/paired_timing.h"

namespace kiln::api {

// Runs the request in a process of its own, which an interrupt ends. Returns the errors of RunAlone, and kCancelled if
// interrupted.
inline absl::StatusOr<RunResult> RunWhole(RunRequest request, const std::string& runner, Stop& stop) {
  std::optional<Stop::Work> work;
  auto ran = RunAlone(std::move(request), runner, [&](std::function<void()> end) {
    work.reset();
    if (!end) return;
    work.emplace(stop, end);
    if (stop.asked()) end();
  });
  if (stop.asked()) return absl::CancelledError("interrupted");
  return ran;
}

}  // namespace kiln::api
