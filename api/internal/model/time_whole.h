// Builds a scheduled model as one library, and times the execution of each task while the whole model runs.
#pragma once

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "api/internal/model/schedules.h"
#include "api/internal/model/whole.h"
#include "backends/builder/pool.h"

namespace kiln::api {

struct TimedWhole {
  KernelObject kernel{};
  LibraryText described{};
  std::vector<double> seconds{};  // of one execution, by task, then by foreign call; 0 in the prepare phase
};

// Builds the model, runs it with drawn data and times each call, as the median of 10 runs. The time of a task is the
// mean over its calls. `runner`: path of kiln-runner. Errors: those of CompileWhole and RunWhole.
absl::StatusOr<TimedWhole> TimeWhole(const Input& input, const ModelSchedules& schedules, int threads,
                                     const std::string& runner, BuilderPool& builders, Stop& stop);

}  // namespace kiln::api
