#include "search/cost/models.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "search/cost/analytic.h"
#include "search/cost/random_model.h"
#include "search/cost/xgboost_model.h"

namespace kiln {

const std::vector<std::string>& CostModelNames() {
  static const auto& names = *new std::vector<std::string>{
      "trees", "trees-alone", "trees-rank", "trees-residual", "ensemble", "roofline", "random"};
  return names;
}

absl::StatusOr<std::unique_ptr<CostModel>> MakeCostModel(absl::string_view name,
                                                         const CostModelOptions& options) {
  const std::vector<std::string>& names = CostModelNames();
  if (std::find(names.begin(), names.end(), name) == names.end()) {
    return absl::InvalidArgumentError(
        absl::StrCat("there is no cost model '", name, "'; there are ", absl::StrJoin(names, ", ")));
  }
  const bool trees = name != "roofline" && name != "random", ansor = options.features == FeatureKind::kAnsor;
  if (options.global != nullptr && !trees)
    return absl::InvalidArgumentError(
        absl::StrCat("the cost model '", name, "' cannot stand on a global model"));
  if (!ansor && (name == "roofline" || name == "trees-residual")) {
    return absl::InvalidArgumentError(
        absl::StrCat("the cost model '", name, "' reads the features 'ansor', not '",
                     FeatureKindNames()[static_cast<int>(options.features)], "'"));
  }
  if (name == "random") return std::make_unique<RandomModel>(options.seed);
  if (name == "roofline") return std::make_unique<AnalyticModel>();

  XgboostOptions how;
  if (name == "trees-rank") how.loss.kind = Loss::kPairwise;
  if (name == "ensemble") {
    how.members = 5;
    how.first_trees = 24;
    how.more_trees = 4;
    how.most_trees = 60;
  }
  how.base = options.global;
  if (how.base == nullptr && ansor && name != "trees-alone") how.base = std::make_shared<AnalyticModel>();
  how.residual = name == "trees-residual" || options.global != nullptr;
  return MakeXgboostModel(FeatureDim(options.features), how);
}

absl::StatusOr<std::unique_ptr<CostModel>> MakeGlobalModel(FeatureKind features) {
  return MakeXgboostModel(FeatureDim(features), {.first_trees = 150});
}

absl::StatusOr<std::shared_ptr<const CostModel>> LoadGlobalModel(FeatureKind features,
                                                                 absl::string_view bytes) {
  absl::StatusOr<std::unique_ptr<CostModel>> model = MakeGlobalModel(features);
  if (!model.ok()) return model.status();
  if (absl::Status s = (*model)->Load(bytes); !s.ok()) return s;
  return std::shared_ptr<const CostModel>(*std::move(model));
}

}  // namespace kiln
