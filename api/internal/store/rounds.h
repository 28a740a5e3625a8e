// Rounds, as the search reports them and as databases keep them.
#pragma once

#include <vector>

#include "absl/status/statusor.h"
#include "api/event.h"
#include "search/database/store.h"
#include "search/run/tune.h"

namespace kiln::api {

Round RoundOf(const TuneProgress& progress);

// Of a run, in the order in which they were recorded. kDataLoss: statistics that are no JSON object.
absl::StatusOr<std::vector<Round>> RoundsOf(Store& store, RowId run);

}  // namespace kiln::api
