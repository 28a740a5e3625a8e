// The loss of a cost model whose score of a program is a sum over its rows: it sees the sums, one for each program.
//
//   squared error   w (s − y)² / 2           y the throughput; nothing where y is an upper bound and s is below it
//   pairwise        w log(1 + exp(s_b − s_a)) for pairs of one task in which a is known to be faster than b
//
// w grows with the throughput (at least `least_weight`), since the search cares for the fast programs; a pair's w also grows
// with the difference. The weights are scaled to a mean curvature of 1 a program at s = 0, so that a regularizer
// means the same in both.
#pragma once

#include <vector>

#include "absl/types/span.h"
#include "search/cost/cost_model.h"

namespace kiln {

enum class Loss { kSquaredError, kPairwise };

struct LossOptions {
  Loss kind = Loss::kSquaredError;
  double least_weight = 0.1;   // weight of a program of throughput 0, where the best has 1
  int pairs_per_program = 32;  // partners drawn for each program in a task with more programs than that; all otherwise
};

class SumLoss {
 public:
  SumLoss(const LossOptions& options, absl::Span<const TrainingLabel> labels);

  double Value(absl::Span<const double> sums) const;
  // First and second derivative by each sum. Invariant: one sum for each label.
  void Derivatives(absl::Span<const double> sums, std::vector<double>* first, std::vector<double>* second) const;

 private:
  struct Target {
    double value;
    double weight;
    bool upper_bound;
  };
  struct Pair {
    int faster;
    int slower;
    double weight;
  };

  int programs_;
  std::vector<Target> targets_;
  std::vector<Pair> pairs_;
};

}  // namespace kiln
