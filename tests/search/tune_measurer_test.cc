// Tests the calls of a search to its measurer: announcements, measurements and races.
#include <algorithm>

#include "lang/text/hash.h"
#include "testing/fake_measurer.h"
#include "tests/search/small_searches.h"

namespace kiln {
namespace {

// A simulated machine that records which requests were announced, and expects that the next measurement begins with
// them.
class Told final : public Measurer {
 public:
  void Announce(const MeasureRequest& request) override { announced.push_back(HashOf(*request.scheduled)); }
  std::vector<MeasureResult> Measure(absl::Span<const MeasureRequest> requests) override {
    for (size_t i = 0; i < announced.size(); ++i) {
      EXPECT_TRUE(i < requests.size() && HashOf(*requests[i].scheduled) == announced[i]);
      ++in_time;
    }
    announced.clear();
    return machine_.Measure(requests);
  }
  std::vector<MeasureResult> Race(absl::Span<const MeasureRequest> c) override { return machine_.Race(c); }

  std::vector<Hash128> announced;
  int in_time = 0;

 private:
  SimulatedMachine machine_{Target()};
};

TEST(MeasurerOfASearch, IsToldOfWhatNeedsNoSearch) {
  Told machine;
  const auto store = MakeMemoryStore();
  MustTune(Small(96, 1), machine, *store);
  EXPECT_GT(machine.in_time, 10);
}

TEST(MeasurerOfASearch, RacesNothingThatIsFarBehind) {
  int far_behind = 0;
  for (const uint64_t seed : {1, 2, 3, 4, 5, 6}) {
    const SimulatedMachine simulated{Target()};
    FakeMeasurer machine([&](const Program& program) { return simulated.Seconds(program); });
    const auto store = MakeMemoryStore();
    MustTune(Small(6, seed), machine, *store);
    const double best = *std::min_element(machine.measured.begin(), machine.measured.end());
    for (const double seconds : machine.measured) far_behind += seconds > 4 * best;
    for (const double seconds : machine.raced) EXPECT_LT(seconds, 4 * best);
  }
  EXPECT_GT(far_behind, 0);
}

// A simulated machine whose races check more than its measurements: all programs of the first `failing` races fail.
class Checking final : public Measurer {
 public:
  explicit Checking(int failing) : failing_(failing) {}
  std::vector<MeasureResult> Measure(absl::Span<const MeasureRequest> requests) override {
    return machine_.Measure(requests);
  }
  std::vector<MeasureResult> Race(absl::Span<const MeasureRequest> requests) override {
    std::vector<MeasureResult> results = machine_.Race(requests);
    for (MeasureResult& result : results)
      if (races < failing_) result = {.status = std::string(outcome::kWrongResult)};
    ++races;
    return results;
  }
  bool RacesCheck() const override { return true; }

  int races = 0;

 private:
  const int failing_;
  SimulatedMachine machine_{Target(), {.noise = 0}};
};

TEST(MeasurerOfASearch, RacesTheNextOnesIfAllFinalistsFailACheck) {
  Checking machine(2);
  const auto store = MakeMemoryStore();
  MustTune(Small(96, 1), machine, *store);
  EXPECT_EQ(machine.races, 3);
  int failed = 0;
  const auto all = store->ReadAll();
  for (const RecordRow& record : all->records)
    failed += !record.flags.race && record.status == outcome::kWrongResult;
  EXPECT_GE(failed, 4);
}

TEST(MeasurerOfASearch, ThatChecksInRacesRacesASingleProgram) {
  Checking machine(0);
  const auto store = MakeMemoryStore();
  MustTune(Small(1, 1), machine, *store);
  EXPECT_EQ(machine.races, 1);
}

}  // namespace
}  // namespace kiln
