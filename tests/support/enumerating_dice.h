// Dice that take every outcome in turn, each with its exact probability, by running the code under test again
// and again: depth first over what it draws. So sampled code becomes a sum:
//
//   EnumeratingDice dice;
//   do {
//     const Decision drawn = distribution.Sample(dice);
//     frequency[drawn] += dice.probability();
//   } while (dice.Next());
//
// The code must draw the same way when what it drew before is the same. Outcomes of probability zero are left
// out. Rejection (Dice::Until) is exact too: all attempts are run, and the accepted ones are taken in
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

  // Of what was drawn since the start or the last Next. Over all outcomes it sums to one.
  double probability() const { return path_.probability; }
  // Prepares the next outcome; false if there is none, and the dice start over.
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
