// Dice that enumerate every outcome of random code with its exact probability. They run the code under test
// once per outcome, depth first over its draws. Code that samples thus becomes a sum:
//   EnumeratingDice dice;
//   do {
//     const Decision drawn = distribution.Sample(dice);
//     frequency[drawn] += dice.probability();
//   } while (dice.Next());
//
// After equal draws the code must make the same next draw. Outcomes with probability zero are left out.
// Rejection (Dice::Until) is exact too: all attempts are enumerated, and the accepted ones are weighted in
// proportion. A million outcomes take about a second.
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

  // Returns the probability of the draws since the start or the last Next. Over all outcomes it sums to one.
  double probability() const { return path_.probability; }
  // Prepares the next outcome. Returns false after the last one, and then starts over.
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
