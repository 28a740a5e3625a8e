#include "search/propose/stratified_prior.h"

#include <gtest/gtest.h>

#include <cmath>

#include "search/propose/prefilter.h"
#include "tests/search/tiling_space.h"

namespace kiln {
namespace {

SearchSpace TwoSketches() {
  SearchSpace space{Matmul(64, 64, 64), Target(), {}, [] { return MakePrefilter(Target()); }};
  const Enumeration sketches = Enumerate(TilingSpace, space.original, Target()).value();
  for (const Sketch& sketch : sketches.sketches) space.sketches.push_back(sketch.trace);
  return space;
}

// Returns the score of a point, the logarithm of a speed: the second sketch is e^0.4 times faster, and a larger
// innermost tile of j is slightly better.
double Sketched(const Point& point) {
  double score = point.sketch == 0 ? 0 : 0.4;
  for (const ReplayedSite& site : point.replayed.sites)
    if (site.distribution.ToString().find("64") != std::string::npos)
      score += 1e-6 * static_cast<double>(site.decision.back());
  return score;
}

std::vector<int> Order(const SearchSpace& space, std::vector<int> measured, int draws) {
  const Prefilter prefilter = space.make_prefilter();
  StratifiedPrior stratified_prior(space, prefilter, Sketched, std::move(measured), draws,
                                   [](uint64_t index) { return Engine{index}; });
  std::vector<int> order;
  while (const std::optional<Candidate> next = stratified_prior.Next()) order.push_back(next->sketch);
  return order;
}

TEST(StratifiedPrior, GivesCreditToSketchesOfWhichLittleWasMeasured) {
  const SearchSpace space = TwoSketches();
  ASSERT_EQ(space.sketches.size(), 2u);
  EXPECT_EQ(Order(space, {0, 0}, 1), (std::vector<int>{1, 0}));
  EXPECT_EQ(Order(space, {0, 9}, 1), (std::vector<int>{0, 1}));
  // The second sketch gets two of three turns: its score, 0.4 higher, outweighs e^0.8 = 2.2 times as many measurements
  // (1 + n).
  const std::vector<int> order = Order(space, {0, 0}, 8);
  EXPECT_EQ(std::vector<int>(order.begin(), order.begin() + 6), (std::vector<int>{1, 1, 0, 1, 1, 0}));
}

TEST(StratifiedPrior, BeginsWithTheBestThatWasDrawnOfASketch) {
  const SearchSpace space = TwoSketches();
  const Prefilter prefilter = space.make_prefilter();
  StratifiedPrior stratified_prior(space, prefilter, Sketched, {0, 0}, 16,
                                   [](uint64_t index) { return Engine{index}; });
  double last[] = {1e9, 1e9};
  int given = 0;
  while (const std::optional<Candidate> next = stratified_prior.Next()) {
    const double score = Sketched(PointOf(space, prefilter, *next).value());
    EXPECT_LE(score, last[next->sketch]);
    last[next->sketch] = score;
    ++given;
  }
  EXPECT_GT(given, 16);
}

}  // namespace
}  // namespace kiln
