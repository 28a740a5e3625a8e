#include "search/run/task_scheduler.h"

#include <gmock/gmock.h>

#include <cmath>
#include <limits>
#include <numeric>

namespace kiln {
namespace {

using testing::ElementsAre;

constexpr double kNever = std::numeric_limits<double>::infinity();

// Returns how many of `rounds` rounds NextTask gives to each task if a task's best time after its round r is
// seconds(task, r).
template <typename Seconds>
std::vector<int> Allocate(Scheduling scheduling, std::vector<TaskStanding> tasks, int rounds,
                          const Seconds& seconds) {
  int last = -1;
  for (int i = 0; i < rounds; ++i) {
    last = NextTask(scheduling, tasks, last).value();
    std::vector<double>& best = tasks[last].best;
    best.push_back(seconds(last, static_cast<int>(best.size())));
  }
  std::vector<int> counts;
  for (const TaskStanding& task : tasks) counts.push_back(static_cast<int>(task.best.size()));
  return counts;
}

TEST(GainOfMoreRounds, ContinuesTheGainOfTheLastDoubling) {
  // From round 2 to round 4, the best time fell by 2. So four more rounds are expected to gain 2, and 6 with the weight
  // 3.
  EXPECT_NEAR(GainOfMoreRounds({{.best = {9, 8, 7, 6}}}, 4)[0], 2, 1e-9);
  EXPECT_NEAR(GainOfMoreRounds({{.weight = 3, .best = {9, 8, 7, 6}}}, 4)[0], 6, 1e-9);
}

TEST(GainOfMoreRounds, GivesRoundsToTheTaskThatGainsMost) {
  const std::vector<double> gains =
      GainOfMoreRounds({{.best = {9, 9, 9, 9}}, {.best = {5, 4}}, {.best = {8, 1}, .ended = true}, {}}, 2);
  EXPECT_THAT(gains, ElementsAre(0, testing::DoubleNear(1, 1e-9), 0, 0));
}

TEST(TaskScheduler, TakesTurnsUntilAllHaveEnded) {
  std::vector<TaskStanding> tasks(3, {.best = {1}});
  const auto next = [&](int last) { return NextTask(Scheduling::kRoundRobin, tasks, last); };
  EXPECT_EQ(next(-1), 0);
  EXPECT_EQ(next(0), 1);
  tasks[2].ended = true;
  EXPECT_EQ(next(1), 0);
  tasks[0].ended = true;
  EXPECT_EQ(next(1), 1);
  tasks[1].ended = true;
  EXPECT_EQ(next(1), std::nullopt);
}

TEST(TaskScheduler, GivesEachTaskARoundFirst) {
  for (const Scheduling scheduling : {Scheduling::kGradient, Scheduling::kRoundRobin}) {
    EXPECT_THAT(Allocate(scheduling, std::vector<TaskStanding>(4), 4, [](int, int) { return 1.0; }),
                ElementsAre(1, 1, 1, 1));
  }
}

TEST(TaskScheduler, GivesMoreToTasksThatTakeLonger) {
  const auto counts = Allocate(Scheduling::kGradient, std::vector<TaskStanding>(2), 40,
                               [](int task, int) { return task == 0 ? 9.0 : 1.0; });
  EXPECT_GT(counts[0], 2 * counts[1]);
  EXPECT_GT(counts[1], 1);
}

TEST(TaskScheduler, GivesMoreToTasksThatOccurMoreOften) {
  const auto counts =
      Allocate(Scheduling::kGradient, {{.weight = 1}, {.weight = 9}}, 40, [](int, int) { return 1.0; });
  EXPECT_GT(counts[1], 2 * counts[0]);
}

TEST(TaskScheduler, GivesMoreToTasksThatStillImprove) {
  const auto counts =
      Allocate(Scheduling::kGradient, std::vector<TaskStanding>(2), 30,
               [](int task, int round) { return task == 0 ? 1.0 : 2 * std::pow(0.8, round); });
  EXPECT_GT(ExpectedGain({.best = {4, 3, 2}}, 0), ExpectedGain({.best = {2, 2, 2}}, 0));
  EXPECT_EQ(std::accumulate(counts.begin(), counts.end(), 0), 30);
}

TEST(TaskScheduler, HopesThatATaskComesNearTheRateOfOthers) {
  const std::vector<double> rounds(20, 1.0);
  EXPECT_GT(ExpectedGain({.flops = 1, .best = rounds}, 100),
            5 * ExpectedGain({.flops = 90, .best = rounds}, 100));
}

TEST(TaskScheduler, HopesForLittleNearTheRoofline) {
  const std::vector<double> rounds(20, 1.0);
  EXPECT_GT(ExpectedGain({.roofline = 0.1, .best = rounds}, 0),
            5 * ExpectedGain({.roofline = 0.9, .best = rounds}, 0));
}

TEST(TaskScheduler, SharesRoundsWithTasksWhoseRateStaysLow) {
  // The first task, such as a product with a vector, waits for memory: its rate never comes near that of the second
  // task, which has 100 times the operations in the same time. It gets more than half of the rounds, but not all.
  const auto counts = Allocate(Scheduling::kGradient, {{.flops = 1}, {.flops = 100}}, 100,
                               [](int, int round) { return 1 + 1.0 / (round + 1); });
  EXPECT_GT(counts[0], 50);
  EXPECT_GT(counts[1], 7);
}

TEST(TaskScheduler, LetsATaskThatNeverRunsWait) {
  const auto counts = Allocate(Scheduling::kGradient, std::vector<TaskStanding>(2), 20,
                               [](int task, int) { return task == 0 ? kNever : 1.0; });
  EXPECT_THAT(counts, ElementsAre(3, 17));
}

}  // namespace
}  // namespace kiln
