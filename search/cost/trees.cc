// Cost models of boosted trees: what they stand on, their losses and their sizes.
#include <memory>

#include "search/cost/analytic.h"
#include "search/cost/model_table.h"
#include "search/cost/xgboost_model.h"
#include "search/features/kinds.h"

namespace kiln {
namespace {

using Made = absl::StatusOr<std::unique_ptr<CostModel>>;

// Makes a model of boosted trees on a base model, which scores programs until trees are grown. The base is the global
// model if there is one; the trees then learn its error. Otherwise it is the roofline, if `on_roofline` is set and the
// features have a column of cycles, or else there is none.
Made Trees(const CostModelOptions& options, XgboostOptions how, bool on_roofline = true) {
  how.base = options.global;
  if (how.base == nullptr && on_roofline && CyclesColumn(options.features))
    how.base = std::make_shared<AnalyticModel>(options.features);
  how.residual = how.residual || options.global != nullptr;
  return MakeXgboostModel(FeatureDim(options.features), how);
}

}  // namespace

Made MakeTrees(const CostModelOptions& options) { return Trees(options, {}); }
Made MakeTreesAlone(const CostModelOptions& options) { return Trees(options, {}, false); }
Made MakeTreesRank(const CostModelOptions& options) {
  return Trees(options, {.loss = {.kind = Loss::kPairwise}});
}
Made MakeTreesResidual(const CostModelOptions& options) { return Trees(options, {.residual = true}); }
Made MakeEnsemble(const CostModelOptions& options) {
  return Trees(options, {.first_trees = 24, .more_trees = 4, .most_trees = 60, .members = 5});
}

}  // namespace kiln
