// Draws a few candidates of each sketch from the prior, and returns them best first.
//
// A model learns fast that a sketch is slow from a few bad draws of it, and then never looks again. The
// stratified prior prevents that. It draws a few programs of each sketch, ranks them by a score that learns
// nothing (the roofline), and prefers sketches of which few programs were measured:
//
//   score - 1/2 ln(1 + programs measured of the sketch)
#pragma once

#include <functional>
#include <optional>
#include <vector>

#include "search/propose/batch.h"
#include "search/sampler/chain.h"

namespace kiln {

// A function that returns the natural logarithm of a program's estimated speed.
using Score = std::function<double(const Point&)>;

class StratifiedPrior {
 public:
  // Draws `draws` programs of each sketch and ranks those that may be measured. `measured` holds the number of programs
  // measured of each sketch. `engine` returns the random engine for the draws of a sketch.
  StratifiedPrior(const SearchSpace& space, const Prefilter& prefilter, const Score& score,
                  std::vector<int> measured, int draws, const std::function<Engine(uint64_t)>& engine);
  // Returns the draw with the largest score - 1/2 ln(1 + n) that was not returned yet, where n is the number of
  // programs measured of its sketch, or nullopt if all were returned. The draw counts as measured from then on.
  std::optional<Candidate> Next();

 private:
  struct Seen {
    double score;
    int draw;
    Candidate candidate;
  };
  std::vector<std::vector<Seen>> seen_;  // draws by sketch, the best last
  std::vector<int> measured_;
};

}  // namespace kiln
