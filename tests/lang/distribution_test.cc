#include "lang/choices/distribution.h"

#include <gtest/gtest.h>

#include <cmath>
#include <map>
#include <set>

#include "tests/support/enumerating_dice.h"

namespace kiln {
namespace {

std::vector<Distribution> Examples() {
  const auto tile = Distribution::PerfectTile;
  return {
      tile(1, 2, 0), tile(12, 2, 0), tile(12, 2, 4), tile(36, 3, 6), tile(64, 4, 16), tile(7, 2, 4),
      tile(210, 3, 10), tile(30, 4, 1), Distribution::BoundedTile(1, 1, {0}, {0}),
      Distribution::BoundedTile(36, 3, {6, 12, 0}, {0, 2, 0}),
      Distribution::BoundedTile(64, 4, {16, 16, 0, 0}, {4, 0, 16, 0}),
      Distribution::BoundedTile(48, 2, {0, 0}, {3, 16}), Distribution::BoundedTile(7, 2, {6, 0}, {0, 0}),
      Distribution::CeilTile(1, 2, 0.25, {0, 0}, {0, 0}), Distribution::CeilTile(7, 2, 0.25, {0, 0}, {0, 0}),
      Distribution::CeilTile(7, 3, 1, {4, 0, 0}, {0, 2, 0}),
      Distribution::CeilTile(12, 3, 0.5, {4, 6, 0}, {2, 0, 0}),
      Distribution::CeilTile(12, 3, 0, {0, 0, 0}, {0, 0, 0}),
      Distribution::CeilTile(30, 2, 0.2, {0, 0}, {4, 0}), Distribution::Discrete({5, -2, 9}, {1, 2, 4.5}),
      Distribution::Uniform({3}), Distribution::Uniform({0, 16, 64, 512}),
      // Distribution::Only keeps those of the listed decisions that are in the support of the other distribution.
      // In the first list, 2*6 is not in it (6 is above the bound of 4), and 3*4 is listed twice.
      Distribution::Only(Distribution::PerfectTile(12, 2, 4), {3, 4, 12, 1, 2, 6, 6, 2, 3, 4}),
      Distribution::Only(Distribution::Discrete({1, 2, 5}, {1, 2, 4}), {5, 1}),
      Distribution::Only(Distribution::CeilTile(13, 2, 0.5, {8, 0}, {0, 0}), {13, 1, 4, 4, 2, 7})};
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
  // Compares the support of a perfect tile of 12 in three parts, the last at most 3, with its definition, for every
  // triple of numbers up to 12.
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

// Expects that the support contains exactly the tiles with factors up to `limit` for which `keeps` is true.
template <typename Keeps>
void ExpectSupport(const Distribution& d, int64_t limit, Keeps keeps) {
  const std::vector<Decision> support = SupportOf(d);
  const std::set<Decision> known(support.begin(), support.end());
  size_t found = 0;
  for (int64_t a = 1; a <= limit; ++a) {
    for (int64_t b = 1; b <= limit; ++b) {
      for (int64_t c = 1; c <= limit; ++c) {
        EXPECT_EQ(known.contains({a, b, c}), keeps(a, b, c))
            << d.ToString() << ": " << a << " " << b << " " << c;
        found += keeps(a, b, c);
      }
    }
  }
  EXPECT_EQ(found, support.size());
}

TEST(Distribution, BoundedTilesAreTheFactorizationsWhoseSuffixesKeepTheBounds) {
  ExpectSupport(Distribution::BoundedTile(24, 3, {6, 12, 0}, {0, 4, 0}), 24,
                [](int64_t a, int64_t b, int64_t c) {
                  return a * b * c == 24 && c <= 6 && b * c <= 12 && b * c % 4 == 0;
                });
  EXPECT_EQ(Distribution::BoundedTile(10, 2, {0, 0}, {4, 0}).SupportSize(), 0);
}

TEST(Distribution, CeilTilesCoverTheExtentWithBoundedWaste) {
  for (const int64_t extent : {7, 12, 13}) {
    ExpectSupport(Distribution::CeilTile(extent, 3, 0.25, {0, 0, 0}, {0, 0, 0}), 16,
                  [&](int64_t a, int64_t b, int64_t c) {
                    return a == (extent + b * c - 1) / (b * c) && a * b * c <= extent + extent / 4;
                  });
  }
}

TEST(Distribution, ExtentsThatDivideBadlyHaveManyTiles) {
  EXPECT_EQ(Distribution::PerfectTile(197, 3, 64).SupportSize(), 2);
  for (const int64_t extent : {7, 109, 197, 257, 1000, 50257}) {
    const Distribution d = Distribution::CeilTile(extent, 3, 0.25, {64, 0, 0}, {0, 0, 0});
    EXPECT_GT(d.SupportSize(), extent / 2) << extent;
    RandomDice dice(Engine({9}));
    for (int i = 0; i < 100; ++i) {
      const Decision tile = d.Sample(dice);
      const int64_t product = tile[0] * tile[1] * tile[2];
      EXPECT_TRUE(d.Contains(tile) && product >= extent && product <= extent + extent / 4) << product;
    }
  }
  // Above the largest extent for imperfect tiles, the support contains the perfect tiles only.
  const int64_t large = int64_t{1} << 20;
  const Distribution d = Distribution::CeilTile(large, 2, 0, {0, 0}, {0, 0});
  EXPECT_EQ(d.SupportSize(), 21);
  EXPECT_TRUE(d.Contains({2, large / 2}));
  double total = 0;
  for (const Decision& tile : SupportOf(d)) total += std::exp(d.LogProb(tile));
  EXPECT_NEAR(total, 1, 1e-12);
}

TEST(Distribution, DecisionsAreDrawnAsOftenAsTheirProbabilitySays) {
  const Distribution d = Distribution::CeilTile(197, 3, 0.1, {16, 0, 0}, {4, 0, 0});
  RandomDice dice(Engine({11}));
  constexpr int kDraws = 200000;
  std::map<Decision, int> drawn;
  for (int i = 0; i < kDraws; ++i) ++drawn[d.Sample(dice)];
  double chi = 0, total = 0;
  for (const Decision& tile : SupportOf(d)) {
    const double wanted = kDraws * std::exp(d.LogProb(tile));
    total += wanted;
    chi += (drawn[tile] - wanted) * (drawn[tile] - wanted) / wanted;
  }
  EXPECT_NEAR(total, kDraws, 1e-6);
  const double freedom = d.SupportSize() - 1;
  EXPECT_LT(chi, freedom + 5 * std::sqrt(2 * freedom));
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
