#include "lang/distribution.h"

#include <gtest/gtest.h>

#include <cmath>
#include <map>
#include <set>

#include "tests/support/enumerating_dice.h"

namespace kiln {
namespace {

std::vector<Distribution> Examples() {
  const auto tile = Distribution::PerfectTile;
  return {tile(1, 2, 0),
          tile(12, 2, 0),
          tile(12, 2, 4),
          tile(36, 3, 6),
          tile(64, 4, 16),
          tile(7, 2, 4),
          tile(210, 3, 10),
          tile(30, 4, 1),
          Distribution::Discrete({5, -2, 9}, {1, 2, 4.5}),
          Distribution::Uniform({3}),
          Distribution::Uniform({0, 16, 64, 512})};
}

std::vector<Decision> SupportOf(const Distribution& d) {
  std::vector<Decision> support;
  d.ForEach([&](const Decision& decision) { support.push_back(decision); });
  return support;
}

TEST(Distribution, LogProbIsTheProbabilityWithWhichADecisionIsDrawn) {
  for (const Distribution& d : Examples()) {
    std::map<Decision, double> frequency;
    EnumeratingDice dice;
    do {
      const Decision drawn = d.Sample(dice);
      frequency[drawn] += dice.probability();
    } while (dice.Next());
    EXPECT_EQ(static_cast<double>(frequency.size()), d.SupportSize()) << d.ToString();
    for (const auto& [decision, probability] : frequency) {
      EXPECT_NEAR(probability, std::exp(d.LogProb(decision)), 1e-12) << d.ToString();
    }
  }
}

TEST(Distribution, ForEachVisitsWhatItContainsOnce) {
  for (const Distribution& d : Examples()) {
    const std::vector<Decision> support = SupportOf(d);
    EXPECT_EQ(std::set<Decision>(support.begin(), support.end()).size(), support.size());
    EXPECT_EQ(static_cast<double>(support.size()), d.SupportSize()) << d.ToString();
    for (const Decision& decision : support) EXPECT_TRUE(d.Contains(decision));
  }
  // Every triple of numbers up to 12, against the definition.
  const Distribution d = Distribution::PerfectTile(12, 3, 3);
  const std::vector<Decision> support = SupportOf(d);
  const std::set<Decision> known(support.begin(), support.end());
  for (int64_t a = 0; a <= 12; ++a) {
    for (int64_t b = 0; b <= 12; ++b) {
      for (int64_t c = 0; c <= 12; ++c) {
        EXPECT_EQ(d.Contains({a, b, c}), a * b * c == 12 && c <= 3);
        EXPECT_EQ(known.contains({a, b, c}), d.Contains({a, b, c}));
      }
    }
  }
  EXPECT_FALSE(d.Contains({12, 1}));
  EXPECT_FALSE(d.Contains({}));
  EXPECT_EQ(d.LogProb({6, 1, 1}), -std::numeric_limits<double>::infinity());
}

TEST(Distribution, ProposeTellsItsOwnProbabilityBothWays) {
  for (const Distribution& d : Examples()) {
    std::map<std::pair<Decision, Decision>, double> kernel, forward, backward;
    for (const Decision& from : SupportOf(d)) {
      EnumeratingDice dice;
      do {
        const Distribution::Proposal proposal = d.Propose(from, dice);
        EXPECT_TRUE(d.Contains(proposal.to));
        EXPECT_EQ(proposal.to == from, d.SupportSize() == 1) << d.ToString();
        kernel[{from, proposal.to}] += dice.probability();
        forward[{from, proposal.to}] = std::exp(proposal.log_forward);
        backward[{from, proposal.to}] = std::exp(proposal.log_backward);
      } while (dice.Next());
    }
    for (const auto& [move, probability] : kernel) {
      const std::pair<Decision, Decision> back = {move.second, move.first};
      EXPECT_NEAR(probability, forward[move], 1e-12) << d.ToString();
      ASSERT_TRUE(kernel.contains(back)) << d.ToString();
      EXPECT_NEAR(kernel[back], backward[move], 1e-12) << d.ToString();
    }
  }
}

TEST(Distribution, ProposalsReachEveryDecision) {
  for (const Distribution& d : Examples()) {
    std::set<Decision> reached = {SupportOf(d).front()};
    std::vector<Decision> work(reached.begin(), reached.end());
    while (!work.empty()) {
      const Decision from = work.back();
      work.pop_back();
      EnumeratingDice dice;
      do {
        const Distribution::Proposal proposal = d.Propose(from, dice);
        if (reached.insert(proposal.to).second) work.push_back(proposal.to);
      } while (dice.Next());
    }
    EXPECT_EQ(static_cast<double>(reached.size()), d.SupportSize()) << d.ToString();
  }
}

TEST(EnumeratingDice, SumsToOneThroughRejection) {
  EnumeratingDice dice;
  std::map<int, double> frequency;
  do {
    int drawn = 0;
    dice.Until([&] {
      drawn = dice.Pick({1, 2, 3, 0});
      return dice.Flip(drawn == 0 ? 0.5 : drawn == 1 ? 1 : 0);
    });
    const int after = dice.Flip(0.25) ? 10 : 0;
    frequency[drawn + after] += dice.probability();
  } while (dice.Next());
  EXPECT_EQ(frequency.size(), 4u);
  EXPECT_NEAR(frequency[0], 0.2 * 0.75, 1e-15);
  EXPECT_NEAR(frequency[1], 0.8 * 0.75, 1e-15);
  EXPECT_NEAR(frequency[10], 0.2 * 0.25, 1e-15);
}

TEST(RandomDice, TheSameKeyDrawsTheSame) {
  RandomDice a(Engine({1, 2, 3})), b(Engine({1, 2, 3})), c(Engine({1, 2, 4}));
  int same = 0;
  for (int i = 0; i < 64; ++i) {
    const int64_t drawn = a.Below(1000);
    EXPECT_EQ(drawn, b.Below(1000));
    same += drawn == c.Below(1000);
  }
  EXPECT_LT(same, 8);
}

}  // namespace
}  // namespace kiln
