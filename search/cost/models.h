// The cost models by name, and the features that they see: the one place that makes them.
//
//   trees            boosted trees with squared error of log throughput; the roofline until they have grown
//   trees-alone      the same without the roofline: nothing is known at first
//   trees-rank       boosted trees with pairwise ranking
//   trees-residual   boosted trees upon the roofline: they learn what it leaves
//   ensemble         a bootstrap ensemble of boosted trees: the mean, and how much its members disagree
//   roofline         the analytic model alone, which learns nothing
//   random           numbers that mean nothing: a baseline
//
// The roofline is read off the features `ansor`; models that see others begin with nothing.
//
// Transfer: a global model, trained on the records of other tasks (GlobalModel), scores programs before
// anything is measured; the local trees then learn what it leaves. Only models of trees can stand on one.
//
// To add a model, derive from CostModel and add its name in models.cc.
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
  uint64_t seed = 0;  // of the random model
};

const std::vector<std::string>& CostModelNames();

// kInvalidArgument: no such model, or one that does not go with these options.
absl::StatusOr<std::unique_ptr<CostModel>> MakeCostModel(absl::string_view name,
                                                         const CostModelOptions& options = {});

// An untrained global model: train it with Update on the records of any tasks, each task a group; keep it
// with Save; LoadGlobalModel makes it again, or says what is wrong with the bytes.
absl::StatusOr<std::unique_ptr<CostModel>> MakeGlobalModel(FeatureKind features);
absl::StatusOr<std::shared_ptr<const CostModel>> LoadGlobalModel(FeatureKind features,
                                                                 absl::string_view bytes);

}  // namespace kiln
