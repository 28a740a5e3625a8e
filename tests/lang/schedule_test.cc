#include "lang/schedule/schedule.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "absl/strings/str_cat.h"
#include "lang/program/builder.h"
#include "lang/text/text.h"

namespace kiln {
namespace {

using testing::HasSubstr;

class ScheduleTest : public testing::Test {
 protected:
  static Program Copy() {
    Builder b("copy");
    const Id A = b.Input("A", DType::kF32, {8, 12}), B = b.Output("B", DType::kF32, {8, 12});
    b.Compute("copy", {{"i", 8}, {"j", 12}}, {B, {b.Iter(0), b.Iter(1)}}, b.Load(A, {b.Iter(0), b.Iter(1)}));
    return b.Finish();
  }
  std::string Message() const { return std::string(s.status().message()); }

  RandomDice dice{Engine({1})};
  RandomChooser chooser{dice};
  Schedule s{Copy(), Target(), chooser};
};

TEST_F(ScheduleTest, KeepsTheFirstFailureAndDoesNothingAfterIt) {
  const std::string before = ToString(s.program());
  const Block none = s.GetBlock("nowhere");
  EXPECT_EQ(none.number, -1);
  EXPECT_EQ(s.status().code(), absl::StatusCode::kFailedPrecondition);
  const std::string first = Message();
  const std::vector<Loop> loops = s.GetLoops(s.GetBlock("copy"));
  EXPECT_EQ(loops[5].number, -1) << "straight-line code may index what it expects";
  const std::vector<Loop> parts = s.Split(loops[0], {2, 4});
  s.Parallel(parts[0]);
  EXPECT_EQ(parts[1].number, -1);
  EXPECT_EQ(s.Choose("anything", 3), 0);
  EXPECT_EQ(s.ExtentOf(parts[0]), 0);
  EXPECT_EQ(Message(), first);
  EXPECT_EQ(ToString(s.program()), before);
  EXPECT_TRUE(s.steps().empty());
  EXPECT_TRUE(s.choices().empty());
}

TEST_F(ScheduleTest, FailuresNameTheStepAndTheLineThatAskedForIt) {
  const std::vector<Loop> loops = s.GetLoops(s.GetBlock("copy"));
  const int line = __LINE__ + 1;
  s.Split(loops[0], {2, 3});
  EXPECT_EQ(Message(),
            absl::StrCat("step 2 does not apply: factors 2 3 give 6, but loop i has extent 8\n  step 2:  "
                         "split l0 2 3          (",
                         __FILE__, ":", line, ")\n  l0 was made by step 1:  l0, l1 = get-loops b0"));
}

TEST_F(ScheduleTest, HandlesThatAreGoneSayWhoUsedThemUp) {
  const std::vector<Loop> loops = s.GetLoops(s.GetBlock("copy"));
  s.Split(loops[0], {2, 4});
  s.Unroll(loops[0]);
  EXPECT_THAT(Message(),
              HasSubstr("step 3 does not apply: l0 is gone: an earlier step replaced or removed it"));
  EXPECT_THAT(Message(), HasSubstr("l0 was made by step 1:  l0, l1 = get-loops b0"));
  EXPECT_THAT(Message(), HasSubstr("l0 was used up by step 2:  l2, l3 = split l0 2 4"));
}

TEST_F(ScheduleTest, AskingForASampledExtentNamesTheModule) {
  const Loop i = s.GetLoops(s.GetBlock("copy"))[0];
  EXPECT_EQ(s.ExtentOf(i), 8);
  const std::vector<Loop> parts = s.Split(i, {s.SamplePerfectTile(i, {.parts = 2})});
  const Schedule::Section module(s, "my-module"), block(s, "copy");
  EXPECT_TRUE(s.ok());
  EXPECT_EQ(s.ExtentOf(parts[1]), 0);
  EXPECT_EQ(s.status().code(), absl::StatusCode::kInvalidArgument);
  EXPECT_THAT(
      Message(),
      HasSubstr("\"my-module/copy/\" asks for the extent of loop i_1, which depends on a sampled value"));
}

TEST_F(ScheduleTest, TaintSpreadsThroughSplitsAndFuses) {
  const std::vector<Loop> loops = s.GetLoops(s.GetBlock("copy"));
  const std::vector<Loop> i = s.Split(loops[0], {s.SamplePerfectTile(loops[0], {.parts = 2})});
  const std::vector<Loop> parts = s.Split(i[1], {kAuto, 1});
  EXPECT_TRUE(s.program().loop(s.node(parts[0])).tainted);
  EXPECT_FALSE(s.program().loop(s.node(loops[1])).tainted);
  EXPECT_TRUE(s.program().loop(s.node(s.Fuse({parts[1], loops[1]}))).tainted);
}

TEST_F(ScheduleTest, SitesAndChoicesAreNamedBySectionAndNumberedWhereEqual) {
  const Value one = s.SampleCategorical({1, 2}, {}, "x");
  {
    const Schedule::Section module(s, "m"), block(s, "b");
    s.SampleCategorical({1, 2}, {}, "x");
    s.SampleCategorical({1, 2}, {}, "x");
    s.SampleCategorical({1, 2});
    s.Choose("c", 2);
    s.Choose("c", 2);
    s.Choose("only", 1);
  }
  s.SampleCategorical({1, 2}, {}, "x");
  EXPECT_EQ(one.number, 0);
  std::vector<std::string> sites;
  for (const Step& step : s.steps()) sites.push_back(step.site);
  EXPECT_THAT(sites, testing::ElementsAre("x", "m/b/x", "m/b/x#1", "m/b/categorical", "x#1"));
  ASSERT_EQ(s.choices().size(), 2u) << "a choice of one is none";
  EXPECT_EQ(s.choices()[0].name, "m/b/c");
  EXPECT_EQ(s.choices()[1].name, "m/b/c#1");
}

TEST_F(ScheduleTest, ADecisionOutOfSupportIsAFailure) {
  struct Wrong final : Chooser {
    Decision Choose(const Site&) override { return {3, 3}; }
    int ChooseStructure(absl::string_view, int) override { return 0; }
  } wrong;
  Schedule wronged(Copy(), Target(), wrong);
  const Loop i = wronged.GetLoops(wronged.GetBlock("copy"))[0];
  wronged.SamplePerfectTile(i, {.parts = 2}, "i");
  EXPECT_THAT(std::string(wronged.status().message()),
              HasSubstr("the decision 3 3 is not in the support: 2 factors of 8, the last at most 64"));
}

TEST_F(ScheduleTest, OverridesAreKeptWhereTheyAreInTheSupport) {
  OverrideChooser given({{"i", {2, 4}}, {"j", {5, 5}}}, chooser);
  Schedule own(Copy(), Target(), given);
  const std::vector<Loop> loops = own.GetLoops(own.GetBlock("copy"));
  own.SamplePerfectTile(loops[0], {.parts = 2}, "i");
  own.SamplePerfectTile(loops[1], {.parts = 2}, "j");
  ASSERT_TRUE(own.ok()) << own.status();
  EXPECT_EQ(own.steps()[2].decision, (Decision{2, 4}));
  EXPECT_TRUE(Distribution::PerfectTile(12, 2, 64).Contains(own.steps()[3].decision));
}

TEST_F(ScheduleTest, AHandlePastTheEndOfAListFailsAtItsLine) {
  const std::vector<Loop> loops = s.GetLoops(s.GetBlock("copy"));
  ASSERT_EQ(loops.size(), 2u);
  const int line = __LINE__ + 1;
  const Loop none = loops[7];
  EXPECT_EQ(none.number, -1);
  s.Reorder({loops[1], loops[0]});
  EXPECT_EQ(
      s.status().message(),
      absl::StrCat(__FILE__, ":", line,
                   ": \"\" asks for handle 7 of a list of 2, which has 0 to 1; compare with size() first"));
  EXPECT_EQ(s.steps().size(), 2u) << "nothing is recorded";
}

TEST_F(ScheduleTest, EveryUseOfAListIsChecked) {
  const auto fails = [&](const std::function<void(std::vector<Loop>&)>& use) {
    RandomChooser own_chooser(dice);
    Schedule own(Copy(), Target(), own_chooser);
    std::vector<Loop> loops = own.GetLoops(own.GetBlock("copy"));
    use(loops);
    own.Reorder(loops);
    return !own.ok();
  };
  EXPECT_FALSE(fails([](auto& loops) { std::swap(loops[0], loops[1]); }));
  EXPECT_FALSE(fails([](auto& loops) { std::swap(loops.front(), loops.back()); }));
  EXPECT_FALSE(fails([](auto& loops) { loops = {loops.begin(), loops.end() - 1}; }));
  EXPECT_TRUE(fails([](auto& loops) { loops[2] = loops[0]; }));
  EXPECT_TRUE(fails([](auto& loops) { loops[-1] = loops[0]; }));
  EXPECT_TRUE(fails([](auto& loops) { std::swap(loops[0], loops[loops.size()]); }));
  EXPECT_TRUE(fails([](auto&) { std::vector<Loop>().front(); }));
  EXPECT_TRUE(fails([](auto&) { std::vector<Block>().back(); }));
}

TEST_F(ScheduleTest, AHandlePastTheEndOfAnArrayFailsAtItsLine) {
  const std::vector<Loop> loops = s.GetLoops(s.GetBlock("copy"));
  const std::array<Loop, 2> parts = s.Split(loops[0], {Factor(kAuto), Factor(4)});
  const auto [outer, inner] = parts;
  EXPECT_EQ(s.ExtentOf(outer), 2);
  EXPECT_EQ(s.ExtentOf(inner), 4);
  EXPECT_EQ(parts.front().number, outer.number);
  EXPECT_EQ(parts.back().number, inner.number);
  for (const Loop part : parts) s.Unroll(part);
  ASSERT_TRUE(s.ok()) << s.status();
  const std::array<Loop, 2> both{outer, inner};
  const size_t steps = s.steps().size();
  const auto last = static_cast<int>(both.size());
  const int line = __LINE__ + 1;
  const Loop none = both[last];
  EXPECT_EQ(none.number, -1);
  s.Unroll(outer);
  EXPECT_EQ(
      s.status().message(),
      absl::StrCat(__FILE__, ":", line,
                   ": \"\" asks for handle 2 of a list of 2, which has 0 to 1; compare with size() first"));
  EXPECT_EQ(s.steps().size(), steps) << "nothing is recorded";
}

TEST_F(ScheduleTest, TheNodeOfAHandlePastTheEndMayBeReadAndFailsTheSchedule) {
  const std::vector<Loop> loops = s.GetLoops(s.GetBlock("copy"));
  const int line = __LINE__ + 1;
  EXPECT_GT(s.program().loop(s.node(loops[7])).extent.Known(), 0) << "some loop";
  EXPECT_THAT(Message(),
              HasSubstr(absl::StrCat(__FILE__, ":", line, ": \"\" asks for handle 7 of a list of 2")));
}

TEST_F(ScheduleTest, HandlesOfNoStepFailWhoAsksForTheirNodes) {
  const int line = __LINE__ + 1;
  EXPECT_EQ(s.program().Text(s.program().block(s.node(Block())).name), "copy");
  EXPECT_EQ(Message(), absl::StrCat(__FILE__, ":", line,
                                    ": \"\" asks for the node of an inert handle; no step returned it"));
  Schedule other(Copy(), Target(), chooser);
  EXPECT_EQ(other.ExtentOf(Loop{3}), 0) << "a handle of another schedule";
  EXPECT_THAT(std::string(other.status().message()), HasSubstr("asks for the node of an inert handle"));
}

TEST_F(ScheduleTest, AScheduleIsNotFailedByTheListsOfAnEarlierOne) {
  std::vector<Loop>().front();
  Schedule own(Copy(), Target(), chooser);
  own.GetBlock("copy");
  EXPECT_TRUE(own.ok()) << own.status();
}

TEST_F(ScheduleTest, ACopyGoesItsOwnWay) {
  const Loop i = s.GetLoops(s.GetBlock("copy"))[0];
  Schedule fork = s;
  fork.Unroll(i);
  EXPECT_EQ(s.steps().size(), 2u);
  EXPECT_EQ(fork.steps().size(), 3u);
  EXPECT_EQ(s.program().loop(s.node(i)).kind, LoopKind::kSerial);
}

}  // namespace
}  // namespace kiln
