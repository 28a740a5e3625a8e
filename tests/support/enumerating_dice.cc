#include "tests/support/enumerating_dice.h"

#include <utility>

#include "lang/base/check.h"

namespace kiln {
namespace {

int FirstFrom(const std::vector<double>& probabilities, int from) {
  while (from < static_cast<int>(probabilities.size()) && !(probabilities[from] > 0)) ++from;
  return from < static_cast<int>(probabilities.size()) ? from : -1;
}

}  // namespace

int EnumeratingDice::Pick(absl::Span<const double> weights) {
  double total = 0;
  for (const double w : weights) total += w;
  KILN_CHECK(total > 0, "nothing to pick from");
  if (path_.at == path_.draws.size()) {
    Draw draw;
    for (const double w : weights) draw.probabilities.push_back(w / total);
    draw.picked = FirstFrom(draw.probabilities, 0);
    path_.draws.push_back(std::move(draw));
  }
  const Draw& draw = path_.draws[path_.at++];
  KILN_CHECK(draw.probabilities.size() == weights.size(), "the code draws differently when it is run again");
  path_.probability *= draw.probabilities[draw.picked];
  return draw.picked;
}

int64_t EnumeratingDice::Below(int64_t n) { return Pick(std::vector<double>(n, 1.0)); }

bool EnumeratingDice::Flip(double p) {
  if (p >= 1) return true;
  if (p <= 0) return false;
  return Pick({p, 1 - p}) == 0;
}

void EnumeratingDice::Until(absl::FunctionRef<bool()> attempt) {
  Path outer = std::exchange(path_, Path());
  std::vector<Path> accepted;
  std::vector<double> weights;
  do {
    if (attempt()) {
      accepted.push_back(path_);
      weights.push_back(path_.probability);
    }
  } while (Next());
  KILN_CHECK(!accepted.empty(), "no attempt is accepted");
  path_ = std::move(outer);
  const int picked = Pick(weights);
  outer = std::exchange(path_, std::move(accepted[picked]));
  path_.at = 0;
  attempt();
  path_ = std::move(outer);
}

bool EnumeratingDice::Next() {
  std::vector<Draw>& draws = path_.draws;
  path_.at = 0;
  path_.probability = 1;
  for (; !draws.empty(); draws.pop_back()) {
    const int next = FirstFrom(draws.back().probabilities, draws.back().picked + 1);
    if (next < 0) continue;
    draws.back().picked = next;
    return true;
  }
  return false;
}

}  // namespace kiln
