// Tests that chains which start from exact draws of their target π_T are still distributed as π_T after twenty steps.
#include <gtest/gtest.h>

#include "tests/search/exact_chain.h"
#include "tests/support/repeats.h"

namespace kiln {
namespace {

constexpr int kChains = Repeats(20000), kSteps = 20;

// Returns the probability that chi-square with `freedom` degrees is at least `value` (Wilson and Hilferty's normal
// approximation).
double UpperTail(double value, double freedom) {
  const double spread = 2 / (9 * freedom);
  const double z = (std::cbrt(value / freedom) - (1 - spread)) / std::sqrt(spread);
  return 0.5 * std::erfc(z / std::sqrt(2.0));
}

// Draws the first points of many chains from the target at a temperature, and runs kSteps steps of each. Returns the
// tail probability of a chi-square test of the last points against the target. Points that expect fewer than five
// chains are counted together.
double TailAfterSteps(const SearchSpace& space, double temperature, uint64_t seed) {
  const toy::ExactChain exact(space);
  const std::vector<double> target = exact.Target(temperature);
  const toy::StepFunction step = toy::RealStep(space);
  std::vector<std::shared_ptr<const Point>> points;
  for (int i = 0; i < exact.size(); ++i) points.push_back(std::make_shared<const Point>(exact.point(i)));
  std::vector<double> counts(exact.size(), 0);
  for (uint64_t chain = 0; chain < kChains; ++chain) {
    RandomDice dice(Engine{seed, chain});
    std::shared_ptr<const Point> at = points[dice.Pick(target)];
    for (int i = 0; i < kSteps; ++i) {
      if (const auto next = step(*at, temperature, dice)) at = next;
    }
    ++counts[exact.IndexOf(*at)];
  }
  double chi_square = 0, rest = 0, rest_expected = 0;
  int cells = 0;
  for (int i = 0; i < exact.size(); ++i) {
    const double expected = kChains * target[i];
    if (expected < 5) {
      rest += counts[i];
      rest_expected += expected;
      continue;
    }
    chi_square += (counts[i] - expected) * (counts[i] - expected) / expected;
    ++cells;
  }
  if (rest_expected >= 5) {
    chi_square += (rest - rest_expected) * (rest - rest_expected) / rest_expected;
    ++cells;
  }
  return UpperTail(chi_square, cells - 1);
}

TEST(ChainSampled, StaysInItsTargetOnStructured) { EXPECT_GT(TailAfterSteps(toy::Structured(), 1, 1), 1e-3); }
TEST(ChainSampled, StaysInItsTargetOnShared) { EXPECT_GT(TailAfterSteps(toy::Shared(), 1, 2), 1e-3); }
TEST(ChainSampled, StaysInItsTargetOnRefusingWhenCold) {
  EXPECT_GT(TailAfterSteps(toy::Refusing(), 0.3, 3), 1e-3);
}

}  // namespace
}  // namespace kiln
