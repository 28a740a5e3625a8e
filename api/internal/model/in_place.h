// Times the tasks of a model within the whole, for the scheduler of a search (RunInPlace in search/run/tune.h).
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

  // Builds the model with these programs, and with default schedules for tasks that have none. Runs it, and returns the
  // seconds of one execution of each task.
  absl::StatusOr<std::vector<double>> Run(absl::Span<const PlacedTask> tasks, BuilderPool& builders);

 private:
  const SessionOptions& options_;
  const Input& input_;
  const Target& target_;
  const std::string runner_;
  Stop& stop_;
  std::optional<ModelSchedules> schedules_;  // of the last run
};

}  // namespace kiln::api
