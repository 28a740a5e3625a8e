// Converts the reports on rounds from the search and from databases to the structs of api/event.h.
#pragma once

#include <vector>

#include "absl/status/statusor.h"
#include "api/event.h"
#include "search/database/store.h"
#include "search/run/tune.h"

namespace kiln::api {

// Converts the progress of a search after a round. If `static_clock` (StaticClockOf in static_results.h) is not 0, the
// best time becomes cycles.
Round RoundOf(const TuneProgress& progress, double static_clock);

// Returns the rounds of a run in the order in which they were recorded. Returns kDataLoss if the statistics of a round
// are not a JSON object.
absl::StatusOr<std::vector<Round>> RoundsOf(Store& store, RowId run);

}  // namespace kiln::api
