// Dice that enumerate every outcome of random code with its exact probability. The caller runs the code under test once
// per outcome. Outcomes come depth first over the draws. Tests add up exact probabilities instead of sampling:
//   EnumeratingDice dice;
//   do {
//     const Decision drawn = distribution.Sample(dice);
//     frequency[drawn] += dice.probability();
//   } while (dice.Next());
//
// The code under test must be deterministic: after equal draws, its next draw must have equal weights. Outcomes with
// probability zero are left out. Rejection sampling (Dice::Until) is exact too: all attempts are enumerated, and each
// accepted one gets its share of the probability. A million outcomes take about a second.
#pragma once

#include <vector>

#include "lang/base/random.h"

namespace kiln {

class EnumeratingDice final : public Dice {
 public:
  int Pick(absl::Span<const double> weights) override;
  int64_t Below(int64_t n) override;
  bool Flip(double p) override;
  void Until(absl::FunctionRef<bool()> attempt) override;

  // Returns the probability of the present outcome: of the draws since the start or the last call of Next. The
  // probabilities of all outcomes sum to one.
  double probability() const { return path_.probability; }
  // Prepares the dice for the next outcome. Returns false after the last outcome. The next run then gives the first
  // again.
  bool Next();

 private:
  struct Draw {
    std::vector<double> probabilities;
    int picked = 0;
  };
  struct Path {
    std::vector<Draw> draws;
    size_t at = 0;
    double probability = 1;
  };
  Path path_;
};

}  // namespace kiln
