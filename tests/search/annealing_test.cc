#include "search/sampler/annealing.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace kiln {
namespace {

using testing::ElementsAre;

constexpr double kInfinity = std::numeric_limits<double>::infinity();

TEST(EnergyScale, IsMedianAndInterquartileRange) {
  const EnergyScale scale = ScaleOf({4, 0, 1, 3, 2});
  EXPECT_DOUBLE_EQ(scale.middle, 2);
  EXPECT_DOUBLE_EQ(scale.spread, 2 / 1.35);
  EXPECT_DOUBLE_EQ(scale.Energy(2 + 2 / 1.35), -1);  // a better score has a lower energy
}

TEST(EnergyScale, OfEqualScoresIsOne) { EXPECT_DOUBLE_EQ(ScaleOf({7, 7, 7}).spread, 1); }

TEST(EffectiveSampleSize, CountsEqualWeights) {
  EXPECT_DOUBLE_EQ(EffectiveSampleSize({0.5, 0.5, 0.5}), 3);
  EXPECT_DOUBLE_EQ(EffectiveSampleSize({0, -kInfinity, -kInfinity}), 1);
  EXPECT_NEAR(EffectiveSampleSize({-1e6, -1e6}), 2, 1e-12);
}

TEST(NextTemperature, LeavesHalfOfTheSample) {
  std::vector<double> energies;
  for (int i = 0; i < 100; ++i) energies.push_back(0.05 * i);
  const double from_prior = NextTemperature(energies, kInfinity, 0.01);
  std::vector<double> weights;
  for (const double e : energies) weights.push_back(-e / from_prior);
  EXPECT_NEAR(EffectiveSampleSize(weights), 50, 1e-6);
  EXPECT_LT(NextTemperature(energies, from_prior, 0.01), from_prior);
}

TEST(NextTemperature, StopsAtTheFloor) {
  EXPECT_DOUBLE_EQ(NextTemperature({1, 1, 1, 1}, kInfinity, 0.25), 0.25);
  EXPECT_DOUBLE_EQ(NextTemperature({0, 9, 9, 9}, 0.25, 0.25), 0.25);
}

TEST(CarryOver, KeepsTheTemperatureOfUnchangedEnergies) {
  const Carried carried = CarryOver({1, 2, 3}, {1, 2, 3}, 0.5);
  EXPECT_DOUBLE_EQ(carried.temperature, 0.5);
  EXPECT_THAT(carried.log_weights, ElementsAre(0, 0, 0));
}

TEST(CarryOver, WeighsBySmallChangesAsTheyAre) {
  const Carried carried = CarryOver({1, 1}, {1.1, 0.9}, 0.5);
  EXPECT_DOUBLE_EQ(carried.temperature, 0.5);
  EXPECT_NEAR(carried.log_weights[1] - carried.log_weights[0], 0.4, 1e-12);
}

TEST(CarryOver, HeatsWhereTheModelHasChangedItsMind) {
  std::vector<double> old(64, 0), now(64);
  for (int i = 0; i < 64; ++i) now[i] = i;
  const Carried carried = CarryOver(old, now, 0.2);
  EXPECT_GT(carried.temperature, 1);
  EXPECT_GE(EffectiveSampleSize(carried.log_weights), 64.0 / 3);
}

TEST(SystematicResample, GivesEachItsShareOrOneMore) {
  const std::vector<double> log_weights = {std::log(1.0), std::log(4.0), std::log(0.5), std::log(2.5)};
  for (const double u : {0.0, 0.3, 0.7, 0.999}) {
    std::vector<int> count(4, 0);
    for (const int i : SystematicResample(log_weights, u)) ++count[i];
    EXPECT_EQ(count[0] + count[1] + count[2] + count[3], 4);
    EXPECT_EQ(count[1], 2);
    EXPECT_LE(count[0], 1);
    EXPECT_LE(count[2], 1);
    EXPECT_GE(count[3], 1);
  }
  EXPECT_THAT(SystematicResample({0, 0, 0}, 0.5), ElementsAre(0, 1, 2));
}

}  // namespace
}  // namespace kiln
