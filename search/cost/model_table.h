// The table of all cost models. models.cc finds them by name.
#pragma once

#include <memory>

#include "absl/status/statusor.h"
#include "search/cost/models.h"

// The name of each cost model, the function that makes it, whether it may stand on a global model, whether it needs
// features with estimated cycles (CyclesColumn), and how it scores programs; the default first.
#define KILN_COST_MODELS(ROW)                                                                                   \
  ROW("trees", MakeTrees, true, false,                                                                          \
      "boosted trees with squared error of log throughput; scores are the roofline's until the first training") \
  ROW("trees-alone", MakeTreesAlone, true, false,                                                               \
      "`trees` without the roofline: all scores are equal until the first training")                            \
  ROW("trees-rank", MakeTreesRank, true, false,                                                                 \
      "boosted trees with pairwise ranking: they learn which of two programs is faster")                        \
  ROW("trees-residual", MakeTreesResidual, true, true,                                                          \
      "boosted trees that learn the error of the roofline and add their sum to it")                             \
  ROW("ensemble", MakeEnsemble, true, false,                                                                    \
      "five sets of boosted trees: scores are the mean, doubt is the disagreement")                             \
  ROW("roofline", MakeRoofline, false, true, "the analytic model alone; learns nothing")                        \
  ROW("random", MakeRandomModel, false, false, "random scores: a baseline")

namespace kiln {

#define KILN_DECLARE(name, make, on_global, needs_cycles, doc) \
  absl::StatusOr<std::unique_ptr<CostModel>> make(const CostModelOptions& options);
KILN_COST_MODELS(KILN_DECLARE)
#undef KILN_DECLARE

}  // namespace kiln
