// The loss of a cost model whose score of a program is a sum over the program's rows. The loss depends only
// on these sums, one for each program.
//
//   squared error   w (s − log y)² / 2          y the throughput; 0 if y is an upper bound and s is below it
//   pairwise        w log(1 + exp(s_b − s_a))   for pairs of one task in which a is known to be faster
//                                               than b; failed programs are slower than all others
//
// The target is log y, which is at most 0, instead of y. Each row then mostly lowers the score, as it adds to the
// time, and more rows do not make a program look better. (With target y, programs with different numbers of rows were
// ordered worse than by chance.) The weight w grows with the throughput, because the search needs the fast programs.
// The weight of a pair also grows with the difference. The weights are scaled so that the mean curvature at s = 0 is
// 1 per program. A regularizer then has the same effect in both losses.
#pragma once

#include <vector>

#include "absl/types/span.h"
#include "search/cost/cost_model.h"

namespace kiln {

enum class Loss { kSquaredError, kPairwise };

struct LossOptions {
  Loss kind = Loss::kSquaredError;
  // The least throughput of a weight, in (0, 1). The weight of a slower or failed program is computed with this
  // throughput. The squared error also takes its logarithm as the target of such programs. The difference within a pair
  // is that of the throughputs themselves.
  double least_throughput = 0.05;
  // In the pairwise loss, each program draws this many partners from its task, with replacement, if the task has more
  // programs than this. Otherwise all pairs of the task count. Pairs of equal or unknown order are left out.
  int pairs_per_program = 32;
};

class SumLoss {
 public:
  // Prepares the loss for these labels: the targets and weights of programs or pairs. With a base model, the score of a
  // program is the base's score plus the sum. An error of the base that is equal for a whole task does not matter.
  // Invariant: `base` has one score for each label, or is empty.
  SumLoss(const LossOptions& options, absl::Span<const TrainingLabel> labels,
          absl::Span<const double> base = {});

  double Value(absl::Span<const double> sums) const;
  // Computes the first and second derivatives of the loss by the sum of each program. Invariant: one sum for each
  // label.
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
    double ahead = 0;  // base of the faster program minus base of the slower one
  };

  void TakeOff(absl::Span<const TrainingLabel> labels, absl::Span<const double> base);

  int programs_;
  std::vector<Target> targets_;
  std::vector<Pair> pairs_;
};

}  // namespace kiln
