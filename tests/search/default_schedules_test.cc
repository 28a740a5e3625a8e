#include "search/model/default_schedules.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "lang/text/text.h"
#include "tests/search/tiling_space.h"
#include "tests/search/toy_spaces.h"
#include "trace/text.h"
#include "validator/validate.h"

namespace kiln {
namespace {

using testing::HasSubstr;

std::vector<DefaultSchedule> Defaults(const std::vector<DefaultTask>& tasks, const DefaultOptions& options,
                                      const SpaceFunction& space = TilingSpace) {
  auto schedules = DefaultSchedules(tasks, space, Target(), options);
  EXPECT_TRUE(schedules.ok()) << schedules.status();
  return schedules.ok() ? *std::move(schedules) : std::vector<DefaultSchedule>(tasks.size());
}

std::string TextOf(const std::vector<DefaultSchedule>& schedules) {
  std::string text;
  for (const DefaultSchedule& s : schedules) text += Print(s.trace) + ToString(s.program);
  return text;
}

TEST(DefaultSchedules, AreTracesOfProgramsThatMayBeMeasured) {
  const Program matmul = Matmul(64, 64, 64);
  const DefaultSchedule schedule = Defaults({{matmul}}, {.changes = 640})[0];
  const auto replayed = Replay(schedule.trace, matmul, Target());
  ASSERT_TRUE(replayed.ok()) << replayed.status();
  EXPECT_EQ(ToString(replayed->program()), ToString(schedule.program));
  EXPECT_TRUE(Validate(schedule.program, Target()).ok);
  EXPECT_GT(schedule.cycles, 64.0 * 64 * 64 / 32);  // two multiply-adds of 8 lanes a cycle, at most
  EXPECT_EQ(schedule.note, "");
}

TEST(DefaultSchedules, DrawAHundredProgramsForEachTask) {
  for (const DefaultSchedule& schedule : Defaults({{Matmul(16, 16, 16)}, {Matmul(64, 64, 64), 1000}}, {}))
    EXPECT_EQ(schedule.tried, 100);
}

TEST(DefaultSchedules, GetFasterWithChanges) {
  const auto cycles = [](int64_t changes) {
    return Defaults({{Matmul(128, 128, 128)}}, {.draws = 8, .changes = changes})[0].cycles;
  };
  EXPECT_LT(cycles(1280), 0.95 * cycles(0));
}

TEST(DefaultSchedules, AreTheSameForASeedWithAnyNumberOfThreads) {
  const auto text = [](uint64_t seed, int threads) {
    return TextOf(Defaults({{Matmul(32, 48, 64), 2}, {Matmul(64, 64, 64)}},
                           {.seed = seed, .changes = 1280, .threads = threads}));
  };
  EXPECT_EQ(text(1, 1), text(1, 2));
  EXPECT_NE(text(1, 1), text(2, 1));
}

TEST(DefaultSchedules, SpendTheBudgetWhereTheModelSpendsItsTime) {
  const auto tried = [](const std::vector<DefaultTask>& tasks) {
    std::vector<double> tried;
    for (const DefaultSchedule& s : Defaults(tasks, {.changes = 64 * 40}))
      tried.push_back(static_cast<double>(s.tried) - 100);
    return tried;
  };
  const auto by_count = tried({{Matmul(64, 64, 64), 9}, {Matmul(64, 64, 64), 1}});
  EXPECT_NEAR(by_count[0] / (by_count[0] + by_count[1]), 0.9, 0.05);
  const auto by_size = tried({{Matmul(32, 32, 32)}, {Matmul(256, 256, 256)}});
  EXPECT_GT(by_size[1], 10 * by_size[0]);
}

TEST(DefaultSchedules, KeepToABudgetInSecondsAfterTheDraws) {
  const auto tried = [](double seconds) {
    const FakeClock clock(1);  // a second between any two looks at it
    return Defaults({{Matmul(64, 64, 64)}}, {.seconds = seconds, .clock = &clock})[0].tried;
  };
  EXPECT_EQ(tried(1), 100);
  EXPECT_GT(tried(5), 100);
  EXPECT_GT(tried(11), tried(5) + 200);
}

TEST(DefaultSchedules, KeepTheProgramOfATaskWithoutASketch) {
  const Program other = toy::Doubling(8);  // has no block that TilingSpace looks for
  const auto schedules = Defaults({{other}, {Matmul(64, 64, 64)}}, {});
  EXPECT_EQ(ToString(schedules[0].program), ToString(other));
  EXPECT_TRUE(schedules[0].trace.steps.empty());
  EXPECT_EQ(schedules[0].tried, 0);
  EXPECT_GT(schedules[0].cycles, 0);
  EXPECT_THAT(schedules[0].note, HasSubstr("no sketch"));
  EXPECT_EQ(schedules[1].tried, 100);
}

TEST(DefaultSchedules, KeepTheProgramOfATaskWhoseDrawsAreAllRefused) {
  const auto too_deep = [](Schedule& s) {
    for (int i = 0; i < 64; ++i) s.Split(s.GetLoops(s.GetBlock("matmul"))[0], {1, kAuto});
  };
  const DefaultSchedule schedule = Defaults({{Matmul(8, 8, 8)}}, {.draws = 2}, too_deep)[0];
  EXPECT_EQ(ToString(schedule.program), ToString(Matmul(8, 8, 8)));
  EXPECT_THAT(schedule.note, HasSubstr("loops"));
}

TEST(DefaultSchedules, BeginWithGivenSketches) {
  const Program matmul = Matmul(64, 64, 64);
  const Enumeration sketches = Enumerate(TilingSpace, matmul, Target()).value();
  const auto never = [](Schedule&) { ADD_FAILURE() << "the space ran"; };
  EXPECT_EQ(TextOf(Defaults({{matmul, 1, sketches}}, {}, never)), TextOf(Defaults({{matmul}}, {})));
}

TEST(DefaultSchedules, StopWhenAsked) {
  const std::atomic<bool> stop = true;
  EXPECT_TRUE(absl::IsCancelled(
      DefaultSchedules({{Matmul(64, 64, 64)}}, TilingSpace, Target(), {.seconds = 1e9, .stop = &stop})
          .status()));
}

TEST(DefaultSchedules, RefuseASpaceThatBranchesOnDraws) {
  const auto branches = [](Schedule& s) {
    static int runs = 0;
    if (++runs % 2 == 0) TilingSpace(s);
  };
  EXPECT_TRUE(absl::IsInvalidArgument(DefaultSchedules({{Matmul(64, 64, 64)}}, branches, Target()).status()));
}

}  // namespace
}  // namespace kiln
