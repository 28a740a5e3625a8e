// Tests searches of models in which the whole model runs between rounds, to time each task within it.
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>

#include "search/database/memory_store.h"
#include "search/measure/simulated_machine.h"
#include "search/run/tune.h"
#include "tests/search/small_searches.h"
#include "tests/search/tiling_space.h"

namespace kiln {
namespace {

TEST(Tune, WeighsATaskByItsTimeWithinTheWhole) {
  const auto rounds_of_the_second = [](double slower) {
    SimulatedMachine machine{Target()};
    const auto store = MakeMemoryStore();
    TuneOptions options = Small(160, 1);
    std::vector<TuneTask> tasks = {{"a", Matmul(64, 64, 64), 0}, {"b", Matmul(64, 64, 48), 0}};
    int runs = 0;
    options.in_place = [&](absl::Span<const PlacedTask> placed) -> absl::StatusOr<std::vector<double>> {
      ++runs;
      std::vector<double> seconds;
      for (const PlacedTask& task : placed) seconds.push_back(machine.Seconds(*task.scheduled));
      seconds[1] *= slower;
      return seconds;
    };
    const std::vector<TuneResult> results = MustTune(options, machine, *store, tasks);
    EXPECT_EQ(runs, 3) << "after the first rounds, and at each doubling of the trials";
    EXPECT_GT(results[1].in_place, 0);
    return results[1].trials;
  };
  EXPECT_GT(rounds_of_the_second(4), rounds_of_the_second(1));
}

// Two tasks that take at most ten times as long as reading their constants. In each run of the whole, the second takes
// twice as long as alone.
class SlowInPlace : public testing::Test {
 protected:
  SlowInPlace() {
    for (TuneTask& task : tasks_) task.constant_bytes = 1;
    options_.seconds_per_byte = 1;
    options_.in_place = [this](absl::Span<const PlacedTask> placed) -> absl::StatusOr<std::vector<double>> {
      std::vector<double> seconds;
      for (const PlacedTask& task : placed)
        seconds.push_back(task.scheduled != nullptr ? machine_.Seconds(*task.scheduled) : 0);
      seconds[1] *= 2;
      return seconds;
    };
  }

  // Returns the records of a task, without those of races.
  std::vector<RecordRow> Searched(int task) {
    std::vector<RecordRow> searched;
    for (const RecordRow& record : RecordsOf(*store_))
      if (record.task == task && !record.flags.race) searched.push_back(record);
    return searched;
  }

  std::vector<TuneTask> tasks_ = {{"a", Matmul(64, 64, 64), 0}, {"b", Matmul(64, 64, 48), 0}};
  SimulatedMachine machine_{Target(), {.noise = 0}};
  std::unique_ptr<Store> store_ = MakeMemoryStore();
  TuneOptions options_ = Small(160, 1);
};

TEST_F(SlowInPlace, IsFromThenOnTimedAsWithinTheModel) {
  const std::vector<TuneResult> results = MustTune(options_, machine_, *store_, tasks_);
  EXPECT_FALSE(results[0].flags.in_model);
  EXPECT_TRUE(results[1].flags.in_model);
  for (const RecordRow& record : Searched(0)) EXPECT_FALSE(record.flags.in_model);
  std::vector<std::pair<double, std::string>> alone;
  std::vector<std::string> in_model;
  for (const RecordRow& record : Searched(1)) {
    EXPECT_TRUE(in_model.empty() || record.flags.in_model) << "there is no way back";
    if (record.flags.in_model) in_model.push_back(record.program_hash);
    if (!record.flags.in_model && CanBeBest(record)) alone.emplace_back(Seconds(record), record.program_hash);
  }
  std::sort(alone.begin(), alone.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
  ASSERT_GE(in_model.size(), 8u);
  ASSERT_GE(alone.size(), 8u);
  for (size_t i = 0; i < 8; ++i) EXPECT_EQ(in_model[i], alone[i].second) << "the fastest alone come first";
}

TEST_F(SlowInPlace, IsTimedAloneIfItsConstantsAreReadInNoTime) {
  options_.seconds_per_byte = 1e-15;
  MustTune(options_, machine_, *store_, tasks_);
  for (const RecordRow& record : RecordsOf(*store_)) EXPECT_FALSE(record.flags.in_model);
}

TEST_F(SlowInPlace, StaysInTheModelInLaterSearches) {
  MustTune(options_, machine_, *store_, tasks_);
  const size_t before = Searched(1).size();
  options_.seed = 2;
  MustTune(options_, machine_, *store_, tasks_);
  const std::vector<RecordRow> records = Searched(1);
  ASSERT_GT(records.size(), before);
  for (size_t i = before; i < records.size(); ++i) EXPECT_TRUE(records[i].flags.in_model) << i;
}

TEST_F(SlowInPlace, KeepsTheRecordsAloneIfNothingRunsAsWithinTheModel) {
  class OnlyAlone final : public Measurer {
   public:
    std::vector<MeasureResult> Measure(absl::Span<const MeasureRequest> requests) override {
      std::vector<MeasureResult> results = machine_.Measure(requests);
      for (size_t i = 0; i < requests.size(); ++i)
        if (requests[i].in_model)
          results[i] = {.status = std::string(outcome::kOutOfMemory), .flags = results[i].flags};
      return results;
    }
    std::vector<MeasureResult> Race(absl::Span<const MeasureRequest> requests) override {
      return machine_.Race(requests);
    }

   private:
    SimulatedMachine machine_{Target(), {.noise = 0}};
  } machine;
  const std::vector<TuneResult> results = MustTune(options_, machine, *store_, tasks_);
  EXPECT_NE(results[1].record, 0);
  EXPECT_FALSE(results[1].flags.in_model);
}

TEST_F(SlowInPlace, ASearchThatWasInterruptedGoesOnAsItWouldHave) {
  MustTune(options_, machine_, *store_, tasks_);
  const std::vector<RecordRow> expected = Searched(1);
  for (const int rounds : {2, 3, 4, 6}) {
    store_ = MakeMemoryStore();
    std::atomic<bool> stop = false;
    int seen = 0;
    options_.stop = &stop;
    options_.progress = [&](const TuneProgress&) { stop = ++seen == rounds; };
    EXPECT_TRUE(MustTune(options_, machine_, *store_, tasks_)[0].interrupted);
    stop = false;
    MustTune(options_, machine_, *store_, tasks_);
    const std::vector<RecordRow> resumed = Searched(1);
    ASSERT_EQ(resumed.size(), expected.size()) << rounds;
    for (size_t i = 0; i < resumed.size(); ++i) {
      EXPECT_EQ(resumed[i].program_hash, expected[i].program_hash) << rounds << ", " << i;
      EXPECT_EQ(resumed[i].flags.in_model, expected[i].flags.in_model) << rounds << ", " << i;
    }
  }
}

}  // namespace
}  // namespace kiln
