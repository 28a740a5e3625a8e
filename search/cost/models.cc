#include "search/cost/models.h"

#include <iterator>

#include "absl/algorithm/container.h"
#include "absl/strings/str_cat.h"
#include "lang/base/unknown_name.h"
#include "search/cost/model_table.h"
#include "search/cost/xgboost_model.h"

namespace kiln {

namespace {

struct Row {
  const char* name;
  absl::StatusOr<std::unique_ptr<CostModel>> (*make)(const CostModelOptions&);
  bool on_global, needs_cycles;
  const char* doc;
};

const Row kModels[] = {
#define KILN_ROW(name, make, on_global, needs_cycles, doc) {name, make, on_global, needs_cycles, doc},
    KILN_COST_MODELS(KILN_ROW)
#undef KILN_ROW
};

const Row* FindRow(absl::string_view name) {
  const auto* row = absl::c_find_if(kModels, [&](const Row& r) { return r.name == name; });
  return row == std::end(kModels) ? nullptr : row;
}

}  // namespace

std::vector<std::string> CostModelNames() {
  std::vector<std::string> names;
  for (const Row& row : kModels) names.push_back(row.name);
  return names;
}

absl::string_view CostModelDoc(absl::string_view name) {
  const Row* row = FindRow(name);
  return row == nullptr ? "" : row->doc;
}

absl::StatusOr<std::unique_ptr<CostModel>> MakeCostModel(absl::string_view name,
                                                         const CostModelOptions& options) {
  const Row* row = FindRow(name);
  if (row == nullptr) {
    return absl::InvalidArgumentError(UnknownName("cost model", name, CostModelNames()));
  }
  if (options.global != nullptr && !row->on_global)
    return absl::InvalidArgumentError(
        absl::StrCat("the cost model '", name, "' cannot stand on a global model"));
  if (row->needs_cycles && !CyclesColumn(options.features)) {
    return absl::InvalidArgumentError(
        absl::StrCat("the cost model '", name, "' reads the features 'ansor' or 'gpu', not '",
                     FeatureKindNames()[static_cast<int>(options.features)], "'"));
  }
  return row->make(options);
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
