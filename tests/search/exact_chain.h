// Computes the transition matrix of a chain on a small space, by running its step with dice that enumerate
// every outcome.
#pragma once

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "lang/base/check.h"
#include "search/sampler/chain.h"
#include "tests/search/toy_spaces.h"
#include "tests/support/enumerating_dice.h"

namespace kiln::toy {

using Key = std::pair<int, std::vector<Decision>>;
inline Key KeyOf(const Point& point) {
  const Candidate c = CandidateOf(point, 0);
  return {c.sketch, c.decisions};
}

// One step of a chain from a point: returns the next point, or null to stay.
using StepFunction =
    std::function<std::shared_ptr<const Point>(const Point& from, double temperature, Dice& dice)>;

// Returns the step that the search makes with each chain (search/sampler/population.cc): it proposes a point and then
// accepts or rejects it. `structure` is the probability with which it proposes another sketch.
inline StepFunction RealStep(const SearchSpace& space, double structure = 0.2) {
  return [&space, structure, prefilter = space.make_prefilter()](const Point& from, double temperature,
                                                                 Dice& dice) {
    const Move move = Propose(space, prefilter, from, structure, dice);
    if (move.to == nullptr) return std::shared_ptr<const Point>();
    const double here = Energy(CandidateOf(from, 0)), there = Energy(CandidateOf(*move.to, 0));
    return Accept(move, here, there, temperature, dice) ? move.to : nullptr;
  };
}

class ExactChain {
 public:
  // Finds all points of the space, and their prior probabilities, by enumerating every outcome of the dice.
  explicit ExactChain(const SearchSpace& space) {
    const Prefilter prefilter = space.make_prefilter();
    EnumeratingDice dice;
    double total = 0;
    do {
      absl::StatusOr<Point> point = DrawPoint(space, prefilter, dice);
      if (!point.ok()) continue;
      total += dice.probability();
      const auto [at, fresh] = index_.emplace(KeyOf(*point), static_cast<int>(points_.size()));
      if (!fresh) {
        prior_[at->second] += dice.probability();
        continue;
      }
      prior_.push_back(dice.probability());
      points_.push_back(*std::move(point));
    } while (dice.Next());
    for (double& p : prior_) p /= total;
  }

  int size() const { return static_cast<int>(points_.size()); }
  const Point& point(int i) const { return points_[i]; }
  double prior(int i) const { return prior_[i]; }
  int IndexOf(const Point& point) const { return index_.at(KeyOf(point)); }

  // Returns the target probability π_T of each point, which is proportional to its prior * exp(-energy / temperature).
  std::vector<double> Target(double temperature) const {
    std::vector<double> target;
    double total = 0;
    for (int i = 0; i < size(); ++i) {
      target.push_back(prior_[i] * std::exp(-Energy(CandidateOf(points_[i], 0)) / temperature));
      total += target.back();
    }
    for (double& p : target) p /= total;
    return target;
  }

  std::vector<std::vector<double>> Transitions(const StepFunction& step, double temperature) const {
    std::vector<std::vector<double>> matrix(size(), std::vector<double>(size(), 0));
    for (int from = 0; from < size(); ++from) {
      EnumeratingDice dice;
      do {
        const std::shared_ptr<const Point> to = step(points_[from], temperature, dice);
        matrix[from][to == nullptr ? from : IndexOf(*to)] += dice.probability();
      } while (dice.Next());
    }
    return matrix;
  }

 private:
  std::vector<Point> points_;
  std::vector<double> prior_;
  std::map<Key, int> index_;
};

// Returns how far a transition matrix P violates detailed balance with the target π: max |π_i P_ij - π_j P_ji|.
inline double Imbalance(const std::vector<double>& target, const std::vector<std::vector<double>>& matrix) {
  double worst = 0;
  for (size_t i = 0; i < target.size(); ++i) {
    for (size_t j = 0; j < i; ++j)
      worst = std::max(worst, std::abs(target[i] * matrix[i][j] - target[j] * matrix[j][i]));
  }
  return worst;
}

// Returns true if every point can be reached from every other point by transitions with positive probability.
inline bool Irreducible(const std::vector<std::vector<double>>& matrix) {
  const auto reached = [&](bool forward) {
    std::vector<int> open{0};
    std::vector<bool> seen(matrix.size(), false);
    seen[0] = true;
    size_t count = 1;
    while (!open.empty()) {
      const int at = open.back();
      open.pop_back();
      for (size_t next = 0; next < matrix.size(); ++next) {
        if (seen[next] || !((forward ? matrix[at][next] : matrix[next][at]) > 0)) continue;
        seen[next] = true;
        ++count;
        open.push_back(static_cast<int>(next));
      }
    }
    return count;
  };
  return reached(true) == matrix.size() && reached(false) == matrix.size();
}

}  // namespace kiln::toy
