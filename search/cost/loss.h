// The loss of a cost model whose score of a program is a sum over its rows: it sees the sums, one for each
// program.
//
//   squared error   w (s − log y)² / 2          y the throughput; 0 where y is an upper bound and s is below
//   pairwise        w log(1 + exp(s_b − s_a))   for pairs of one task, where a is known to be faster than b:
//                                               what failed is slower than all that ran
//
// The target is log y, at most 0, and not y: rows then add losses, as their times add up, and a program does
// not look better for having more of them. (With y as the target, programs whose numbers of rows differ were
// ordered worse than by chance.) w grows with the throughput, since the search cares for the fast programs; a
// pair's w also grows with the difference. The weights are scaled to a mean curvature of 1 a program at s =
// 0, so that a regularizer means the same in both.
#pragma once

#include <vector>

#include "absl/types/span.h"
#include "search/cost/cost_model.h"

namespace kiln {

enum class Loss { kSquaredError, kPairwise };

struct LossOptions {
  Loss kind = Loss::kSquaredError;
  double least_throughput =
      0.05;  // what is slower, or failed, counts as this: in the target and in the weight; in (0, 1)
  int pairs_per_program =
      32;  // partners drawn for each program in a task with more programs than that; all otherwise
};

class SumLoss {
 public:
  // With a base, a score is its number for the program and the sum; what a base is off by for a whole task
  // does not matter. Invariant: one number for each label, or none.
  SumLoss(const LossOptions& options, absl::Span<const TrainingLabel> labels,
          absl::Span<const double> base = {});

  double Value(absl::Span<const double> sums) const;
  // First and second derivative by each sum. Invariant: one sum for each label.
  void Derivatives(absl::Span<const double> sums, std::vector<double>* first,
                   std::vector<double>* second) const;

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
    double ahead = 0;  // the base of the faster over that of the slower
  };

  void TakeOff(absl::Span<const TrainingLabel> labels, absl::Span<const double> base);

  int programs_;
  std::vector<Target> targets_;
  std::vector<Pair> pairs_;
};

}  // namespace kiln
