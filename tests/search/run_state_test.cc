#include "search/run/run_state.h"

#include <gtest/gtest.h>

#include <limits>

#include "absl/strings/match.h"
#include "search/run/run_key.h"

namespace kiln {
namespace {

RunState Example() {
  RunState state;
  state.tasks.resize(2);
  state.tasks[0] = {3, true, 17, {0.1 + 0.2, {{1, {Decision{4, 8, 2}, Decision{-1}}, -1.0 / 3}}}};
  state.tasks[1].strategy.temperature = std::numeric_limits<double>::infinity();
  state.last_task = 1;
  state.seconds = 12.5;
  state.trained = true;
  state.whole_trials = 16;
  state.whole_seconds = 0.5;
  state.tasks[1].in_place = 0.25;
  state.tasks[1].slower = 1.5;
  state.tasks[1].in_model = true;
  state.model = std::string("\0\xff model", 8);
  return state;
}

TEST(RunState, ComesBackBitForBit) {
  const auto back = ParseRunState(Serialize(Example()));
  ASSERT_TRUE(back.ok()) << back.status();
  EXPECT_EQ(Serialize(*back), Serialize(Example()));
  ASSERT_EQ(back->tasks.size(), 2);
  EXPECT_EQ(back->tasks[0].strategy.temperature, 0.1 + 0.2);
  EXPECT_EQ(back->tasks[0].strategy.chains[0].energy, -1.0 / 3);
  EXPECT_EQ(back->tasks[0].strategy.chains[0].decisions[0], (Decision{4, 8, 2}));
  EXPECT_EQ(back->tasks[1].strategy.temperature, std::numeric_limits<double>::infinity());
  EXPECT_EQ(back->model, Example().model);
  EXPECT_EQ(back->tasks[1].slower, 1.5);
  EXPECT_FALSE(back->tasks[0].in_model);
  EXPECT_TRUE(back->tasks[1].in_model);
  EXPECT_EQ(back->whole_seconds, 0.5);
}

TEST(RunState, RefusesDamagedBytes) {
  const std::string bytes = Serialize(Example());
  for (size_t length = 0; length < bytes.size(); ++length) {
    EXPECT_EQ(ParseRunState(bytes.substr(0, length)).status().code(), absl::StatusCode::kDataLoss);
  }
}

TEST(RunKey, DependsOnWhatTheSearchDependsOn) {
  const std::vector<Trace> sketches(1);
  TuneOptions options;
  const auto key = [&](const Target& target = {}) {
    return RunKey({{"t", Program(), 0}}, {&sketches}, target, options);
  };
  const std::string before = key();
  options.threads = 8;
  EXPECT_EQ(key(), before);
  options.seed = 1;
  EXPECT_NE(key(), before);
  options.seed = 0;
  options.search.population.floor = 0.5;
  EXPECT_NE(key(), before);
  options.search.population = {};
  options.features = FeatureKind::kConfiguration;
  EXPECT_NE(key(), before);
  options.features = {};
  options.cold = true;
  EXPECT_NE(key(), before);
  options.cold = false;
  EXPECT_EQ(key(), before);
  Target other;
  other.fingerprint = "another machine";
  EXPECT_NE(key(other), before);
  Target rounding;
  rounding.contract = false;
  EXPECT_NE(key(rounding), before);
  Target plain;
  plain.policies = Policies::Without("short-loops").value();
  EXPECT_NE(key(plain), before);
  Target costly;
  costly.costs.load_ports = 2;
  EXPECT_NE(key(costly), before);
  options.finals.far_behind = 2;
  EXPECT_NE(key(), before);
  options.finals = {};
  options.search.other_sketch_share = 0.5;
  EXPECT_NE(key(), before);
}

TEST(TargetText, SaysWhetherProductsAndSumsMayRoundOnce) {
  Target target;
  EXPECT_TRUE(TargetOf(TargetRow{.text = TargetText(target)})->contract);
  target.contract = false;
  EXPECT_FALSE(TargetOf(TargetRow{.text = TargetText(target)})->contract);
}

TEST(TargetText, SaysWhichPoliciesAreOffAndWhichCostsAreNotTheUsualOnes) {
  Target target;
  EXPECT_FALSE(absl::StrContains(TargetText(target), "without"));
  EXPECT_FALSE(absl::StrContains(TargetText(target), "costs"));
  target.policies = Policies::Without("merge-dims,short-loops").value();
  target.costs.load_ports = 2;
  target.costs.dense_reuse = 8;
  EXPECT_TRUE(
      absl::StrContains(TargetText(target),
                        R"("without":"merge-dims,short-loops","costs":{"load-ports":2.0,"dense-reuse":8.0})"))
      << TargetText(target);
  const auto back = TargetOf(TargetRow{.text = TargetText(target)});
  ASSERT_TRUE(back.ok()) << back.status();
  EXPECT_EQ(back->policies, target.policies);
  EXPECT_EQ(back->costs, target.costs);
  EXPECT_EQ(TargetOf(TargetRow{.text = R"({"without":"of-a-later-version"})"}).status().code(),
            absl::StatusCode::kDataLoss);
}

}  // namespace
}  // namespace kiln
