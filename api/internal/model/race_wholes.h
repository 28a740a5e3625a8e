// Chooses the records of a model by racing wholes. A record that is fastest alone need not be fastest within the model:
// there its constants come from memory, and its inputs from the call before.
//
// The whole with the fastest records is timed call by call, then the whole on default schedules, then wholes with the
// next fastest records of each task that are near it. The fifth whole takes for each task the schedule that was fastest
// within one of these. The wholes then run in turns. The fastest wins, if it is clearly faster than the first.
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
  double seconds = 0;  // no further whole is built after this
  Stop& stop;
};

// Stores the winner's records (chosen_records.h), which later builds of the model then take. Returns nothing if no task
// has a record.
absl::StatusOr<std::optional<RacedWholes>> RaceWholes(const WholeRaceRequest& request, Store& store);

// For each task, the position of the whole in which it took least; wholes without a time for it (0) do not count, and
// a later whole must be at least 1% faster.
std::vector<size_t> FastestInPlace(absl::Span<const std::vector<double>> seconds_of_wholes);

}  // namespace kiln::api
