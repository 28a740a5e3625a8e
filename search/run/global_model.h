// A global model from everything that a store holds:
// what `kiln train` does, and `--transfer` uses (search/cost/models.h).
#pragma once

#include <memory>

#include "absl/status/statusor.h"
#include "search/cost/models.h"
#include "search/database/store.h"

namespace kiln {

struct GlobalModel {
  std::unique_ptr<CostModel> model;
  int tasks = 0;     // a task is a workload on a machine: only programs of one are compared
  int records = 0;   // learned from, failures and runs that were stopped early among them
  int left_out = 0;  // these do not parse or replay
};

// kFailedPrecondition: there is no record to learn from.
absl::StatusOr<GlobalModel> TrainGlobalModel(const StoreContents& contents, FeatureKind features);

}  // namespace kiln
