// What is told of the rounds of a run, as JSON.
#pragma once

#include "absl/status/statusor.h"
#include "search/database/store.h"
#include "tools/common.h"

namespace kiln::tools {

// A list with an object a round: "index" of the task, "round", "trials", and the statistics
// (search/run/round_log.h). kDataLoss: statistics that are no JSON object.
absl::StatusOr<Json> RoundsOf(Store& store, RowId run);

}  // namespace kiln::tools
