// Trains a global cost model: one model for all programs, from the records of a store. `kiln train` stores this model,
// and `--transfer` uses it (search/cost/models.h).
#pragma once

#include <memory>

#include "absl/status/statusor.h"
#include "search/cost/models.h"
#include "search/database/store.h"

namespace kiln {

struct GlobalModel {
  std::unique_ptr<CostModel> model;
  // The number of tasks. A task is a workload on a target, with one state of the caches (Caches). Only programs of one
  // task are compared.
  int tasks = 0;
  int records = 0;   // records learned from, including failures and runs that were stopped early
  int left_out = 0;  // records that do not parse or replay, or whose target has other features
};

// Trains a model on all measured records of a store. Skips static records (RecordFlags::is_static) and records from
// races, and counts records that do not replay or whose target has other features as left out. Returns
// kFailedPrecondition if there is no record to learn from, and the error of a program or target that does not parse.
absl::StatusOr<GlobalModel> TrainGlobalModel(const StoreContents& contents, FeatureKind features);

}  // namespace kiln
