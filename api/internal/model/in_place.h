// Times the tasks of a model while the whole model runs, for the scheduler of a search (RunInPlace in
// search/run/tune.h).
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "api/internal/model/schedules.h"
#include "backends/builder/pool.h"
#include "lang/target/target.h"
#include "search/run/tune.h"

namespace kiln::api {

class InPlace {
 public:
  InPlace(const SessionOptions& options, const Input& input, const Target& target, std::string runner,
          Stop& stop)
      : options_(options), input_(input), target_(target), runner_(std::move(runner)), stop_(stop) {}

  // Builds and runs the model with these programs of tasks. A task without a program keeps its schedule of the last
  // run; in the first run it takes its record, or else a default schedule. Returns the seconds of one execution of each
  // of `tasks`: 0 if the model does not have the task, or runs it in the prepare phase only. Errors: those of
  // ScheduleModel and TimeWhole.
  absl::StatusOr<std::vector<double>> Run(absl::Span<const PlacedTask> tasks, BuilderPool& builders);

 private:
  const SessionOptions& options_;
  const Input& input_;
  const Target& target_;
  const std::string runner_;
  Stop& stop_;
  std::optional<ModelSchedules> schedules_;  // of the last run; empty before the first
};

}  // namespace kiln::api
