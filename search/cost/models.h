// Makes cost models by name, for the kind of features that they read. model_table.h has the names with descriptions.
//
// The models `roofline` and `trees-residual` need the features `ansor` or `gpu`. On other features, trees without a
// global model give equal scores until they are trained.
//
// Transfer: a global model, trained on the records of other tasks (GlobalModel), scores programs before
// anything is measured. The local trees then learn its error. Only models of trees can have such a base.
//
// To add a model, derive from CostModel in a new file of this folder, define there the function that makes it, and add
// its row to the table of model_table.h.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "search/cost/cost_model.h"
#include "search/features/kinds.h"

namespace kiln {

struct CostModelOptions {
  FeatureKind features = FeatureKind::kAnsor;
  std::shared_ptr<const CostModel> global = nullptr;
  uint64_t seed = 0;  // seed of the random model
};

std::vector<std::string> CostModelNames();  // the default first
// Returns how the model of that name scores programs, as docs/reference/cli.md says it; "" if there is none.
absl::string_view CostModelDoc(absl::string_view name);

// Returns an untrained model of that name; kInvalidArgument if there is none, or if it does not fit these options.
absl::StatusOr<std::unique_ptr<CostModel>> MakeCostModel(absl::string_view name,
                                                         const CostModelOptions& options = {});

// MakeGlobalModel returns an untrained global model. Train it with Update on records of any tasks, each task a group,
// and keep it with Save. LoadGlobalModel restores it, or returns kInvalidArgument, which says what is wrong with the
// bytes.
absl::StatusOr<std::unique_ptr<CostModel>> MakeGlobalModel(FeatureKind features);
absl::StatusOr<std::shared_ptr<const CostModel>> LoadGlobalModel(FeatureKind features,
                                                                 absl::string_view bytes);

}  // namespace kiln
