// Boosted trees as a cost model: the score of a program is the sum of the trees' values over its rows, and
// the loss is on that sum (search/cost/loss.h), so that only whole programs need labels.
//
// Training cost. An update normally adds `more_trees` trees to those it has. It starts from nothing, with
// `first_trees`, when the data has grown `rebuild_growth` times since it last did so, or the trees would
// exceed `most_trees`, for the first trees knew little and every tree costs time at each prediction. Few bins
// and moderate depth keep both cheap.
//
// CPU time by bench/cost_model_bench.cc, a core of a 2.4 GHz EPYC, programs of four rows of 164 features:
//   training from nothing     0.2 s on 64 programs, 0.5 s on 1,000
//   the usual update          0.04 s on 64, 0.2 s on 1,000, 0.3 s on 1,900 (most of it is binning anew)
//   prediction                6 us a program, in generations of 2,048
//
// Where 64 measurements take six seconds, training is about 4% of a run of 1,000 trials and 5% of one of
// 2,000. Both losses cost the same.
//
// Ensembles. With `members`, each is trained on programs drawn with replacement (a program's weight is how
// often it was drawn); the score is their mean, and the disagreement their standard deviation.
//
// Determinism: one thread, no subsampling of rows or columns, and every update starts from the trees as Save
// writes them, so a model that was saved and loaded goes on exactly as one that was not.
// What is loaded is checked: search/cost/forest.h.
// Threads and errors: search/cost/cost_model.h.
#pragma once

#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "search/cost/cost_model.h"
#include "search/cost/loss.h"

namespace kiln {

struct XgboostOptions {
  LossOptions loss = {};   // squared error of log throughput; or pairwise ranking, whose scores have no unit
  double shrinkage = 0.3;  // each tree goes this part of the way, in (0, 1]: smaller wants more trees
  double regularization = 3;  // added to the curvature of a leaf, whose mean is 1 a program; at least 0
  double rebuild_growth = 2;  // more than 1
  int first_trees = 60;       // 1 or more
  int more_trees = 8;         // 1 or more
  int most_trees = 200;       // first_trees or more
  int depth = 6;              // of a tree, 1 to 16
  int bins = 16;              // distinct thresholds of a feature, 2 to 256
  int members = 1;            // 1 to 64
  // Scores programs while no tree has grown; with `residual` the trees learn what it leaves, and its scores
  // are added to theirs. Not saved.
  std::shared_ptr<const CostModel> base = nullptr;
  bool residual = false;
};

// An untrained model for rows of `dim` features. kInvalidArgument names the option that is out of its range.
absl::StatusOr<std::unique_ptr<CostModel>> MakeXgboostModel(int dim, const XgboostOptions& options = {});

// Of the library in use, such as "1.7.4".
std::string XgboostVersion();

}  // namespace kiln
