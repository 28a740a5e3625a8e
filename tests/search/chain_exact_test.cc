// Tests that the Metropolis-Hastings step has exactly the target of the design: on small spaces, its whole transition
// matrix is in detailed balance. Also tests this check: it finds each of several plausible mistakes in the step on the
// space that the test names.
#include <gtest/gtest.h>

#include <memory>

#include "tests/search/exact_chain.h"
#include "trace/mutate.h"

namespace kiln {
namespace {

using toy::ExactChain;
using toy::StepFunction;

constexpr double kTemperatures[] = {0.1, 1, 10};

struct NamedSpace {
  const char* name;
  SearchSpace (*make)();
  int points;
};
SearchSpace MakeNested() { return toy::Nested(); }

class ChainOn : public testing::TestWithParam<NamedSpace> {};

TEST_P(ChainOn, IsInDetailedBalanceAndIrreducible) {
  const SearchSpace space = GetParam().make();
  const ExactChain chain(space);
  EXPECT_EQ(chain.size(), GetParam().points);
  for (const double temperature : kTemperatures) {
    const auto matrix = chain.Transitions(toy::RealStep(space), temperature);
    EXPECT_LE(toy::Imbalance(chain.Target(temperature), matrix), 1e-12) << "T = " << temperature;
    EXPECT_TRUE(toy::Irreducible(matrix)) << "T = " << temperature;
    for (const auto& row : matrix) {
      double total = 0;
      for (const double p : row) total += p;
      EXPECT_NEAR(total, 1, 1e-12);
    }
  }
}

TEST_P(ChainOn, PriorIsTheProductOfTheSitesProbabilities) {
  const SearchSpace space = GetParam().make();
  const ExactChain chain(space);
  double total = 0;  // the prior probability of all points that are not refused
  for (int i = 0; i < chain.size(); ++i) total += std::exp(chain.point(i).replayed.LogProb());
  for (int i = 0; i < chain.size(); ++i) {
    EXPECT_NEAR(chain.prior(i), std::exp(chain.point(i).replayed.LogProb()) / total, 1e-13);
  }
}

INSTANTIATE_TEST_SUITE_P(
    Spaces, ChainOn,
    testing::Values(NamedSpace{"Nested", MakeNested, 30}, NamedSpace{"Refusing", toy::Refusing, 26},
                    NamedSpace{"Weighted", toy::Weighted, 32}, NamedSpace{"Asymmetric", toy::Asymmetric, 46},
                    NamedSpace{"Shared", toy::Shared, 46}, NamedSpace{"Structured", toy::Structured, 22}),
    [](const auto& info) { return info.param.name; });

// Returns the step of the search's chains, with another formula for log α, the logarithm of the acceptance ratio.
StepFunction WithAlpha(const SearchSpace& space,
                       double (*log_alpha)(const Move&, double from, double to, double temperature)) {
  return [&space, log_alpha, prefilter = space.make_prefilter()](const Point& from, double temperature,
                                                                 Dice& dice) {
    const Move move = Propose(space, prefilter, from, 0.2, dice);
    if (move.to == nullptr) return std::shared_ptr<const Point>();
    const double here = toy::Energy(CandidateOf(from, 0)), there = toy::Energy(CandidateOf(*move.to, 0));
    const double alpha = std::exp(log_alpha(move, here, there, temperature));
    return dice.Flip(std::min(1.0, alpha)) ? move.to : nullptr;
  };
}

double WorstImbalance(const SearchSpace& space, const StepFunction& step) {
  const ExactChain chain(space);
  double worst = 0;
  for (const double temperature : kTemperatures) {
    worst = std::max(worst, toy::Imbalance(chain.Target(temperature), chain.Transitions(step, temperature)));
  }
  return worst;
}

constexpr double kBroken = 1e-4;

TEST(ChainMutant, WithoutTheRatioOfSiteWeightsFailsOnNested) {
  const SearchSpace space = toy::Nested();
  const auto alpha = [](const Move& m, double from, double to, double t) {
    return LogAlpha(m, from, to, t) - m.log_sites;
  };
  EXPECT_GT(WorstImbalance(space, WithAlpha(space, alpha)), kBroken);
}

TEST(ChainMutant, WithoutTheRatioOfProposalsFailsOnAsymmetric) {
  const SearchSpace space = toy::Asymmetric();
  const auto alpha = [](const Move& m, double from, double to, double t) {
    return LogAlpha(m, from, to, t) - m.log_proposal;
  };
  EXPECT_GT(WorstImbalance(space, WithAlpha(space, alpha)), kBroken);
}

TEST(ChainMutant, WithoutThePriorFailsOnWeighted) {
  const SearchSpace space = toy::Weighted();
  const auto alpha = [](const Move& m, double from, double to, double t) {
    return LogAlpha(m, from, to, t) - m.log_prior;
  };
  EXPECT_GT(WorstImbalance(space, WithAlpha(space, alpha)), kBroken);
}

TEST(ChainMutant, ThatIgnoresTheTemperatureFailsOnNested) {
  const SearchSpace space = toy::Nested();
  const auto alpha = [](const Move& m, double from, double to, double) { return LogAlpha(m, from, to, 1); };
  EXPECT_GT(WorstImbalance(space, WithAlpha(space, alpha)), kBroken);
}

TEST(ChainMutant, ThatRetriesWhatIsRefusedFailsOnRefusing) {
  const SearchSpace space = toy::Refusing();
  const StepFunction step = [&, prefilter = space.make_prefilter()](const Point& from, double temperature,
                                                                    Dice& dice) {
    Move move;
    dice.Until([&] {
      move = Propose(space, prefilter, from, 0.2, dice);
      return move.to != nullptr;
    });
    const double here = toy::Energy(CandidateOf(from, 0)), there = toy::Energy(CandidateOf(*move.to, 0));
    return Accept(move, here, there, temperature, dice) ? move.to : nullptr;
  };
  EXPECT_GT(WorstImbalance(space, step), kBroken);
}

// A chooser that keeps the decision of a site if the new support contains it, and draws otherwise.
class KeepIfContained final : public Chooser {
 public:
  KeepIfContained(const Replayed& from, Dice& dice) : from_(from), dice_(dice) {}
  Decision Choose(const Site& site) override {
    for (int i = 0; i < static_cast<int>(from_.sites.size()); ++i) {
      if (from_.name(i) == site.name && site.distribution.Contains(from_.sites[i].decision))
        return from_.sites[i].decision;
    }
    return site.distribution.Sample(dice_);
  }
  int ChooseStructure(absl::string_view, int) override { return 0; }

 private:
  const Replayed& from_;
  Dice& dice_;
};

std::shared_ptr<const Point> Prefiltered(const Prefilter& prefilter, const Point& from, int sketch,
                                         absl::StatusOr<Replayed> replayed, Move move, double temperature,
                                         Dice& dice) {
  Point point{sketch, *std::move(replayed), {}};
  if (!prefilter(point.replayed, point.features).ok()) return nullptr;
  move.to = std::make_shared<const Point>(std::move(point));
  const double here = toy::Energy(CandidateOf(from, 0)), there = toy::Energy(CandidateOf(*move.to, 0));
  return Accept(move, here, there, temperature, dice) ? move.to : nullptr;
}

TEST(ChainMutant, ThatKeepsWhatIsContainedFailsOnStructured) {
  const SearchSpace space = toy::Structured();
  const StepFunction step = [&, prefilter = space.make_prefilter()](const Point& from, double temperature,
                                                                    Dice& dice) {
    const int to = (from.sketch + 1 + static_cast<int>(dice.Below(2))) % 3;
    KeepIfContained chooser(from.replayed, dice);
    return Prefiltered(prefilter, from, to, Replay(space.sketches[to], space.original, space.target, chooser),
                       Move(), temperature, dice);
  };
  EXPECT_GT(WorstImbalance(space, step), kBroken);
}

TEST(ChainMutant, ThatKeepsWhatIsContainedFailsOnShared) {
  const SearchSpace space = toy::Shared();
  const StepFunction step = [&, prefilter = space.make_prefilter()](const Point& from, double temperature,
                                                                    Dice& dice) {
    const ReplayedSite& first = from.replayed.sites[0];
    const Distribution::Proposal proposed = first.distribution.Propose(first.decision, dice);
    KeepIfContained others(from.replayed, dice);
    OverrideChooser chooser({{"i", proposed.to}}, others);
    Move move;
    move.log_proposal = proposed.log_backward - proposed.log_forward;
    return Prefiltered(prefilter, from, 0, ReplayFrom(from.replayed, 0, chooser), move, temperature, dice);
  };
  EXPECT_GT(WorstImbalance(space, step), kBroken);
}

}  // namespace
}  // namespace kiln
