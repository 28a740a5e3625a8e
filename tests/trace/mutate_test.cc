#include "trace/mutate.h"

#include <gtest/gtest.h>

#include <cmath>
#include <map>

#include "tests/support/enumerating_dice.h"
#include "tests/trace/matmul.h"

namespace kiln {
namespace {

using Decisions = std::vector<Decision>;

const Target kTarget;

// A trace with three tiles. The second tile splits the inner factor of the first, so that its support depends on the
// first decision. The third tile's bound depends on both decisions.
constexpr char kNested[] =
    "b0 = get-block \"matmul\"\nl0, l1, l2 = get-loops b0\n"
    "v0 = sample-perfect-tile l0 n=2 @i -> 1 12\nl3, l4 = split l0 v0\n"
    "v1 = sample-perfect-tile l4 n=2 innermost=4 @ii -> 3 4\nl5, l6 = split l4 v1\n"
    "v2 = sample-categorical values=[0 1 2] weights=[1 2 3] @unroll -> 0\n"
    "v3 = sample-perfect-tile l1 v0 v1 n=2 innermost=6 budget=12 @j -> 6 1\nl7, l8 = split l1 "
    "v3\nunroll-up-to v2\n";

const Trace& Nested() {
  static const Trace trace = Parsed(kNested);
  return trace;
}

Program Small() { return Matmul(12, 6, 4); }

Decisions Of(const Replayed& replayed) {
  Decisions decisions;
  for (const ReplayedSite& site : replayed.sites) decisions.push_back(site.decision);
  return decisions;
}

// All states of a sketch (a choice of decisions for its sites, with the program that they give) and their prior
// probabilities.
struct Support {
  std::vector<Replayed> states;
  std::vector<double> prior;
};
Support Enumerated(const Trace& trace, const Program& program) {
  Support support;
  EnumeratingDice dice;
  do {
    RandomChooser chooser(dice);
    absl::StatusOr<Replayed> replayed = Replay(trace, program, kTarget, chooser);
    KILN_CHECK(replayed.ok(), replayed.status().ToString());
    if (!support.states.empty() && Of(support.states.back()) == Of(*replayed)) {
      support.prior.back() += dice.probability();
      continue;
    }
    support.prior.push_back(dice.probability());
    support.states.push_back(*std::move(replayed));
  } while (dice.Next());
  return support;
}

void ExpectMaximalCoupling(const Distribution& p, const Distribution& q) {
  std::map<Decision, double> marginal;
  double kept = 0, both = 0;
  p.ForEach([&](const Decision& x) {
    const double px = std::exp(p.LogProb(x));
    both += std::min(px, std::exp(q.LogProb(x)));
    EnumeratingDice dice;
    do {
      const Decision y = Couple(p, x, q, dice);
      marginal[y] += px * dice.probability();
      if (x == y) kept += px * dice.probability();
    } while (dice.Next());
  });
  EXPECT_NEAR(kept, both, 1e-12);
  double total = 0;
  for (const auto& [y, probability] : marginal) {
    EXPECT_NEAR(probability, std::exp(q.LogProb(y)), 1e-12);
    total += probability;
  }
  EXPECT_NEAR(total, 1, 1e-12);
}

TEST(Couple, TakesOneDistributionToAnotherAndKeepsAsMuchAsItCan) {
  const Distribution a = Distribution::Discrete({1, 2, 3}, {1, 2, 3}),
                     b = Distribution::Discrete({1, 2, 3, 4}, {5, 2, 1, 2});
  const Distribution c = Distribution::Discrete({7, 8}, {1, 1});
  const Distribution tile = Distribution::PerfectTile(24, 3, 0),
                     bounded = Distribution::PerfectTile(24, 3, 4);
  const Distribution other = Distribution::PerfectTile(36, 3, 6);
  const std::vector<std::pair<Distribution, Distribution>> pairs = {
      {a, a}, {a, b}, {b, a}, {a, c}, {tile, bounded}, {bounded, tile}, {tile, other}};
  for (const auto& [p, q] : pairs) ExpectMaximalCoupling(p, q);
}

TEST(Couple, IsSymmetric) {
  const Distribution p = Distribution::Discrete({1, 2, 3}, {1, 2, 3}),
                     q = Distribution::Discrete({1, 2, 3, 4}, {5, 2, 1, 2});
  const auto joint = [](const Distribution& from, const Distribution& to) {
    std::map<std::pair<int64_t, int64_t>, double> joint;
    from.ForEach([&](const Decision& x) {
      EnumeratingDice dice;
      do {
        const Decision y = Couple(from, x, to, dice);
        joint[{x[0], y[0]}] += std::exp(from.LogProb(x)) * dice.probability();
      } while (dice.Next());
    });
    return joint;
  };
  auto forth = joint(p, q), back = joint(q, p);
  for (int64_t x = 1; x <= 4; ++x) {
    for (int64_t y = 1; y <= 4; ++y) {
      const double a = forth[{x, y}], b = back[{y, x}];
      EXPECT_NEAR(a, b, 1e-12) << x << " " << y;
    }
  }
}

TEST(Couple, DrawsTheResidualByRejection) {
  const Distribution p = Distribution::Discrete({1, 2, 3}, {1, 2, 3}),
                     q = Distribution::Discrete({1, 2, 3, 4}, {5, 2, 1, 2});
  RandomDice dice(Engine({11}));
  const int n = 200000;
  std::map<int64_t, int> count;
  for (int i = 0; i < n; ++i) ++count[Couple(p, p.Sample(dice), q, dice)[0]];
  for (const auto& [y, seen] : count) {
    const double expected = std::exp(q.LogProb({y}));
    EXPECT_NEAR(static_cast<double>(seen) / n, expected, 5 * std::sqrt(expected * (1 - expected) / n)) << y;
  }
}

TEST(Mutate, PriorProbabilityOfAStateIsTheProductOverItsSites) {
  const Support support = Enumerated(Nested(), Small());
  double total = 0;
  for (size_t s = 0; s < support.states.size(); ++s) {
    EXPECT_NEAR(support.prior[s], std::exp(support.states[s].LogProb()), 1e-12);
    total += support.prior[s];
  }
  EXPECT_NEAR(total, 1, 1e-12);
  EXPECT_GT(support.states.size(), 50u);
}

TEST(Mutate, ProposalsAreInDetailedBalanceWithThePriorAtEverySite) {
  const Support support = Enumerated(Nested(), Small());
  std::map<Decisions, size_t> index;
  for (size_t s = 0; s < support.states.size(); ++s) index[Of(support.states[s])] = s;
  ASSERT_EQ(index.size(), support.states.size());
  for (int site = 0; site < 4; ++site) {
    std::map<std::pair<size_t, size_t>, double> flow;
    for (size_t s = 0; s < support.states.size(); ++s) {
      if (support.states[s].sites[site].before == nullptr) continue;
      EnumeratingDice dice;
      double total = 0;
      do {
        const absl::StatusOr<Proposal> proposal = Mutate(support.states[s], site, dice);
        ASSERT_TRUE(proposal.ok()) << proposal.status();
        const auto to = index.find(Of(proposal->to));
        ASSERT_NE(to, index.end()) << Print(WithDecisions(support.states[s]))
                                   << Print(WithDecisions(proposal->to));
        total += dice.probability();
        flow[{s, to->second}] +=
            support.prior[s] * dice.probability() * std::min(1.0, std::exp(proposal->LogRatio()));
      } while (dice.Next());
      EXPECT_NEAR(total, 1, 1e-12);
    }
    for (const auto& [pair, forth] : flow) {
      const auto back = flow.find({pair.second, pair.first});
      ASSERT_NE(back, flow.end());
      EXPECT_NEAR(forth, back->second, 1e-12) << "site " << site;
    }
  }
}

TEST(Mutate, SitesBeforeKeepTheirDecisionsAndTheSiteChanges) {
  const absl::StatusOr<Replayed> start = Replay(Nested(), Small(), kTarget);
  ASSERT_TRUE(start.ok()) << start.status();
  EnumeratingDice dice;
  do {
    const absl::StatusOr<Proposal> proposal = Mutate(*start, 1, dice);
    ASSERT_TRUE(proposal.ok()) << proposal.status();
    EXPECT_EQ(proposal->to.sites[0].decision, start->sites[0].decision);
    EXPECT_NE(proposal->to.sites[1].decision, start->sites[1].decision);
    EXPECT_EQ(proposal->to.sites[2].decision, start->sites[2].decision) << "its distribution is the same";
  } while (dice.Next());
}

TEST(ChangeSketch, CouplesTheSitesThatBothName) {
  const Trace a = Parsed(
      "b0 = get-block \"matmul\"\nl0, l1, l2 = get-loops b0\nv0 = sample-perfect-tile l0 n=2 innermost=2 @i "
      "-> 6 2\n"
      "v1 = sample-categorical values=[0 1] @unroll -> 0\n");
  const Trace b = Parsed(
      "b0 = get-block \"matmul\"\nl0, l1, l2 = get-loops b0\nv0 = sample-perfect-tile l0 n=2 innermost=4 @i "
      "-> 6 2\n"
      "v1 = sample-perfect-tile l1 n=2 @unroll -> 6 1\nv2 = sample-categorical values=[5 6] @new -> 5\n");
  const Support from = Enumerated(a, Small()), to = Enumerated(b, Small());
  std::map<Decisions, double> marginal;
  std::map<std::pair<Decision, Decision>, double> joint;
  for (size_t s = 0; s < from.states.size(); ++s) {
    EnumeratingDice dice;
    do {
      const absl::StatusOr<Replayed> moved = ChangeSketch(from.states[s], b, Small(), dice);
      ASSERT_TRUE(moved.ok()) << moved.status();
      marginal[Of(*moved)] += from.prior[s] * dice.probability();
      joint[{from.states[s].sites[0].decision, moved->sites[0].decision}] +=
          from.prior[s] * dice.probability();
    } while (dice.Next());
  }
  for (size_t s = 0; s < to.states.size(); ++s) EXPECT_NEAR(marginal[Of(to.states[s])], to.prior[s], 1e-12);
  // Site i has the decisions 12*1 and 6*2 in the first sketch (innermost at most 2), with probability 1/2 each, and
  // 12*1, 6*2, 4*3 and 3*4 in the second (innermost at most 4), with 1/4 each. So half of the draws of 6*2 are kept.
  EXPECT_NEAR((joint[{Decision{6, 2}, Decision{6, 2}}]), 0.25, 1e-12);
  EXPECT_NEAR((joint[{Decision{6, 2}, Decision{12, 1}}]), 0, 1e-12);
  EXPECT_NEAR((joint[{Decision{6, 2}, Decision{4, 3}}]), 0.125, 1e-12);
}

TEST(Mutate, WhatDoesNotApplyIsAStatus) {
  // The second split, by 1 x 4, applies only to tiles with an inner factor of at most 4. For others, Mutate returns
  // kFailedPrecondition.
  const Trace trace = Parsed(
      "b0 = get-block \"matmul\"\nl0, l1, l2 = get-loops b0\nv0 = sample-perfect-tile l0 n=2 @i -> 6 2\nl3, "
      "l4 = split l0 v0\nl5, l6 = split l4 1 4\n");
  const absl::StatusOr<Replayed> start = Replay(trace, Small(), kTarget);
  ASSERT_TRUE(start.ok()) << start.status();
  EnumeratingDice dice;
  double applies = 0;
  do {
    const absl::StatusOr<Proposal> proposal = Mutate(*start, 0, dice);
    if (proposal.ok()) {
      applies += dice.probability();
    } else {
      EXPECT_EQ(proposal.status().code(), absl::StatusCode::kFailedPrecondition);
    }
  } while (dice.Next());
  EXPECT_GT(applies, 0);
  EXPECT_LT(applies, 1);
}

}  // namespace
}  // namespace kiln
