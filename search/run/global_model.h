// Trains a global model on everything in a store. `kiln train` makes it, and `--transfer` uses it
// (search/cost/models.h).
#pragma once

#include <memory>

#include "absl/status/statusor.h"
#include "search/cost/models.h"
#include "search/database/store.h"

namespace kiln {

struct GlobalModel {
  std::unique_ptr<CostModel> model;
  int tasks = 0;     // a task is a workload on a machine; only programs of one task are compared
  int records = 0;   // records learned from, including failures and runs that were stopped early
  int left_out = 0;  // records that do not parse or replay
};

// Trains a model on all records that were measured, not static ones (RecordFlags::is_static). Returns
// kFailedPrecondition if there is none to learn from.
absl::StatusOr<GlobalModel> TrainGlobalModel(const StoreContents& contents, FeatureKind features);

}  // namespace kiln
