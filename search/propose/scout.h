// Draws from the prior, sketch by sketch, best first.
//
// A model learns fast that a sketch is slow from a few bad draws of it, and then never looks again. A scout
// prevents that. It draws a few programs of each sketch, ranks them by a score that learns nothing (the
// roofline), and prefers sketches of which few programs were measured:
//
//   score - 1/2 ln(1 + programs measured of the sketch)
#pragma once

#include <functional>
#include <optional>
#include <vector>

#include "search/propose/batch.h"
#include "search/sampler/chain.h"

namespace kiln {

// The natural logarithm of how fast a program seems.
using Score = std::function<double(const Point&)>;

class Scout {
 public:
  // `measured`: programs of each sketch. `draws` of each sketch are looked at, with dice that `engine` keys
  // by a number.
  Scout(const SearchSpace& space, const Judge& judge, const Score& score, std::vector<int> measured,
        int draws, const std::function<Engine(uint64_t)>& engine);
  // The next best; none when all that was drawn was given.
  std::optional<Candidate> Next();

 private:
  struct Seen {
    double score;
    int draw;
    Candidate candidate;
  };
  std::vector<std::vector<Seen>> seen_;  // by sketch, the best last
  std::vector<int> measured_;
};

}  // namespace kiln
