#include "search/cost/models.h"

#include <iterator>

#include "absl/algorithm/container.h"
#include "absl/strings/str_cat.h"
#include "lang/base/unknown_name.h"
#include "search/cost/analytic.h"
#include "search/cost/random_model.h"
#include "search/cost/xgboost_model.h"

namespace kiln {

namespace {

using Made = absl::StatusOr<std::unique_ptr<CostModel>>;

// Makes a model of boosted trees on a base model, which scores programs until trees are grown. The base is the global
// model if there is one; the trees then learn its error. Otherwise it is the roofline, if `on_roofline` is set and the
// features have it.
Made Trees(const CostModelOptions& options, XgboostOptions how, bool on_roofline = true) {
  how.base = options.global;
  if (how.base == nullptr && on_roofline && CyclesColumn(options.features))
    how.base = std::make_shared<AnalyticModel>(options.features);
  how.residual = how.residual || options.global != nullptr;
  return MakeXgboostModel(FeatureDim(options.features), how);
}

Made Ensemble(const CostModelOptions& options) {
  return Trees(options, {.first_trees = 24, .more_trees = 4, .most_trees = 60, .members = 5});
}

using Options = CostModelOptions;

struct Row {
  const char* name;
  const char* doc;
  Made (*make)(const Options&);
  bool may_stand_on_global = false;
  bool needs_cycles = false;  // the features must have a CyclesColumn
};

// The table of all cost models, the default first: name, description, and the function that makes it.
const Row kModels[] = {
    {"trees",
     "boosted trees with squared error of log throughput; scores are the roofline's until the first training",
     [](const Options& o) { return Trees(o, {}); }, true},
    {"trees-alone", "`trees` without the roofline: all scores are equal until the first training",
     [](const Options& o) { return Trees(o, {}, false); }, true},
    {"trees-rank", "boosted trees with pairwise ranking: they learn which of two programs is faster",
     [](const Options& o) { return Trees(o, {.loss = {.kind = Loss::kPairwise}}); }, true},
    {"trees-residual", "boosted trees that learn the error of the roofline and add their sum to it",
     [](const Options& o) { return Trees(o, {.residual = true}); }, true, true},
    {"ensemble", "five sets of boosted trees: scores are the mean, doubt is the disagreement", Ensemble,
     true},
    {"roofline", "the analytic model alone; learns nothing",
     [](const Options& o) -> Made { return std::make_unique<AnalyticModel>(o.features); }, false, true},
    {"random", "random scores: a baseline",
     [](const Options& o) -> Made { return std::make_unique<RandomModel>(o.seed); }},
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
  if (options.global != nullptr && !row->may_stand_on_global)
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
