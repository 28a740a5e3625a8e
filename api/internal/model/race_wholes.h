// Chooses the records of a model by racing whole models, each built as one library. A record that is fastest alone need
// not be fastest within the model: there its constants come from memory, and its inputs from the call before.
//
// The whole with the fastest records is timed call by call, then the whole on default schedules, then wholes with the
// next fastest records of each task that are at most 15% slower. There, a task that takes less than 1% of the whole
// keeps its fastest record. The last whole takes for each task the schedule that was fastest within one of these. The
// wholes then run in turns, or only the first and the last if all of them would take more than a quarter of the
// machine's memory. The fastest one wins if it is clearly faster than the first.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "api/internal/model/schedules.h"
#include "backends/builder/pool.h"
#include "search/database/store.h"

namespace kiln::api {

struct WholeRaceRequest {
  const SessionOptions& options;
  const Input& input;
  const Target& target;
  std::string runner;  // path of kiln-runner
  BuilderPool& builders;
  double seconds = 0;  // after so long, no whole with second or third fastest records is built
  Stop& stop;
};

// Builds, times and races the wholes, and stores the records of the winner (chosen_records.h), which later builds of
// the model then take. Returns nullopt, and stores nothing, if no task has a record or there is only one whole.
// kCancelled if interrupted.
absl::StatusOr<std::optional<RacedWholes>> RaceWholes(const WholeRaceRequest& request, Store& store);

// Returns for each task the index of the whole model in which it took the least time; `seconds_of_wholes` has the
// seconds of each task, by whole. A later whole must be more than 1% faster than the best one before, and does not
// count without a time for the task (0). The index is 0 if the first whole has no time for the task.
std::vector<size_t> FastestInPlace(absl::Span<const std::vector<double>> seconds_of_wholes);

}  // namespace kiln::api
