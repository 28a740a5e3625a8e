// Boosted trees as a cost model. The score of a program is the sum of the trees' values over its rows. With `residual`,
// the score of the base model is added. The loss is on that sum (search/cost/loss.h), so only whole programs need
// labels.
//
// Training cost. An update normally adds `more_trees` trees to the existing ones. It starts from scratch with
// `first_trees` trees if the number of programs has grown by the factor `rebuild_growth` since the last such start, or
// if there would be more than `most_trees`: early trees knew little, and every tree makes predictions slower. Few bins
// and moderate depth keep both costs low.
//
// CPU time by bench/cost_model_bench.cc, a core of a 2.4 GHz EPYC, programs of four rows of 164 features:
//   training from nothing     0.2 s on 64 programs, 0.5 s on 1,000
//   the usual update          0.04 s on 64, 0.2 s on 1,000, 0.3 s on 1,900 (most of it is binning)
//   prediction                6 us a program, in generations of 2,048
//
// If 64 measurements take six seconds, training takes about 4% of a run of 1,000 trials and 5% of a run of
// 2,000. Both losses cost the same.
//
// Ensembles. With several `members`, each member is trained on programs drawn with replacement: the weight of a program
// is multiplied by how often it was drawn. The score is the members' mean, the disagreement their standard deviation.
//
// Determinism: training uses one thread and does not subsample rows or columns. Every update starts from the
// trees as Save writes them, so a restored model continues exactly like one that was never saved. Loaded
// bytes are checked (search/cost/forest.h). Threads and errors: search/cost/cost_model.h.
#pragma once

#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "search/cost/cost_model.h"
#include "search/cost/loss.h"

namespace kiln {

struct XgboostOptions {
  LossOptions loss = {};   // squared error of log throughput, or pairwise ranking, whose scores have no unit
  double shrinkage = 0.3;  // each tree is scaled by this, in (0, 1]; smaller values need more trees
  double regularization = 3;  // added to the curvature of a leaf, whose mean is 1 per program; at least 0
  double rebuild_growth = 2;  // more than 1
  int first_trees = 60;       // 1 or more
  int more_trees = 8;         // 1 or more
  int most_trees = 200;       // first_trees or more
  int depth = 6;              // maximum depth of a tree, 1 to 16
  int bins = 16;              // distinct thresholds of a feature, 2 to 256
  int members = 1;            // 1 to 64
  // A model that scores programs until the first trees are grown. With `residual`, the trees learn its error, and their
  // sum is added to its score. Save leaves it out.
  std::shared_ptr<const CostModel> base = nullptr;
  bool residual = false;
};

// Returns an untrained model for rows of `dim` features. kInvalidArgument names the option that is out of
// range.
absl::StatusOr<std::unique_ptr<CostModel>> MakeXgboostModel(int dim, const XgboostOptions& options = {});

// Returns the version of the XGBoost library in use, such as "1.7.4".
std::string XgboostVersion();

}  // namespace kiln
