// Tests how times that other programs may have disturbed are recognized, and that a search repeats such a race within
// limits and flags results that stay noisy.
#include "search/measure/noise.h"

#include "tests/search/small_searches.h"

namespace kiln {
namespace {

TEST(Noise, QuietSamplesAreThoseThatNothingDisturbed) {
  const std::vector<double> raw_samples = {1e-3, 1.0, 1e-3, 1.05,
                                           2e-3, 1.9, 1e-3, 1.02};  // seconds, slowdown
  EXPECT_EQ(QuietOf(raw_samples, RecordFlags::Parse("relative")).quiet, 3);
  EXPECT_EQ(QuietOf(raw_samples, RecordFlags::Parse("relative")).samples, 4);
  EXPECT_EQ(QuietOf(raw_samples, RecordFlags::Parse("relative preempted=3")).quiet, 1);
  EXPECT_FALSE(QuietOf(raw_samples, RecordFlags::Parse("relative preempted=3")).Mostly());
  EXPECT_EQ(QuietOf(raw_samples, RecordFlags::Parse("preempted=118")).quiet, 0);
  EXPECT_TRUE(QuietOf({}, RecordFlags::Parse("preempted=118")).Mostly());  // unknown without raw samples
}

TEST(Noise, RaceAndSearchDifferByMoreThanAFifth) {
  EXPECT_FALSE(RaceDiffers(1.1, 1));
  EXPECT_TRUE(RaceDiffers(1.3, 1));
  EXPECT_TRUE(RaceDiffers(1, 1.3));
  EXPECT_FALSE(RaceDiffers(1, std::numeric_limits<double>::infinity()));
}

TEST(Noise, ARaceIsDecidedIfTheFastestIsTwiceAsFastInAllSamples) {
  EXPECT_TRUE(IsDecided({4.0, 5.0}, {{1.0, 2.0}}));
  EXPECT_TRUE(IsDecided({1.0, 2.0}, {{4.0, 5.0}, {4.5, 9.0}}));
  EXPECT_FALSE(IsDecided({3.9, 5.0}, {{1.0, 2.0}}));
  EXPECT_FALSE(IsDecided({1.0, 2.0}, {{1.1, 2.2}, {4.5, 9.0}}));
  EXPECT_FALSE(IsDecided({1.0, 2.0}, {}));
  EXPECT_FALSE(IsDecided({1.0, 2.0}, {{}}));
}

// A simulated machine on which the first `disturbed` races take `factor` times as long. The results of these races have
// the given flags and raw samples.
class Busy final : public Measurer {
 public:
  Busy(int disturbed, double factor, absl::string_view flags, std::vector<double> raw_samples = {})
      : disturbed_(disturbed),
        factor_(factor),
        flags_(RecordFlags::Parse(flags)),
        raw_samples_(std::move(raw_samples)) {}

  std::vector<MeasureResult> Measure(absl::Span<const MeasureRequest> requests) override {
    return machine_.Measure(requests);
  }
  std::vector<MeasureResult> Race(absl::Span<const MeasureRequest> requests) override {
    std::vector<MeasureResult> results = machine_.Race(requests);
    if (races++ >= disturbed_) return results;
    for (MeasureResult& result : results) {
      for (double& seconds : result.samples) seconds *= factor_;
      result.flags = flags_;
      result.raw_samples = raw_samples_;
    }
    return results;
  }

  int races = 0;

 private:
  SimulatedMachine machine_{Target()};
  const int disturbed_;
  const double factor_;
  const RecordFlags flags_;
  const std::vector<double> raw_samples_;
};

TuneResult TunedOn(Busy& machine) {
  const auto store = MakeMemoryStore();
  const TuneResult result = MustTune(Small(32, 1), machine, *store)[0];
  EXPECT_EQ(store->Get(result.record)->record.flags, result.flags);
  return result;
}

TEST(Noise, AQuietRaceIsRunOnce) {
  Busy machine(0, 1, "");
  EXPECT_EQ(TunedOn(machine).flags.Print(), "race proven");
  EXPECT_EQ(machine.races, 1);
}

TEST(Noise, ADisturbedRaceIsRunAgain) {
  Busy machine(1, 5, "others=3 noisy");
  const TuneResult result = TunedOn(machine);
  EXPECT_EQ(machine.races, 2);
  EXPECT_EQ(result.flags.Print(), "race proven");
  EXPECT_FALSE(RaceDiffers(result.latency, result.searched));
}

TEST(Noise, ARaceThatStaysDisturbedIsFlagged) {
  Busy machine(1000, 1, "others=3 noisy");
  EXPECT_EQ(TunedOn(machine).flags.Print(), "others=3 noisy race proven");
  EXPECT_EQ(machine.races, 3);
}

// A clock that advances by `seconds` with each race of the machine, and stands still otherwise.
class ClockOfRaces final : public Clock {
 public:
  ClockOfRaces(const Busy& machine, double seconds) : machine_(machine), seconds_(seconds) {}
  double Seconds() const override { return machine_.races * seconds_; }
  int64_t WallMillis() const override { return 0; }

 private:
  const Busy& machine_;
  const double seconds_;
};

TEST(Noise, NoRaceBeginsThatWouldEndTooLate) {
  for (const auto& [seconds, races] : std::vector<std::pair<double, int>>{{20, 1}, {12, 2}, {9, 3}}) {
    Busy machine(1000, 1, "others=3 noisy");
    const ClockOfRaces clock(machine, seconds);
    TuneOptions options = Small(32, 1);
    options.clock = &clock;
    const auto store = MakeMemoryStore();
    MustTune(options, machine, *store);
    EXPECT_EQ(machine.races, races) << seconds;
  }
}

TEST(Noise, ARaceThatDiffersFromTheSearchIsFlagged) {
  for (const double factor : {0.5, 6.0}) {
    Busy machine(1000, factor, "");
    const TuneResult result = TunedOn(machine);
    EXPECT_EQ(result.flags.Print(), "noisy race proven") << factor;
    EXPECT_NEAR(result.latency / result.searched, factor, 0.2 * factor);
    EXPECT_EQ(machine.races, 3);
  }
}

TEST(Noise, ARaceWithMostSamplesDisturbedIsFlagged) {
  Busy machine(1000, 1, "", {1e-3, 1.5, 1e-3, 1.4, 1e-3, 1.0});
  EXPECT_EQ(TunedOn(machine).flags.Print(), "noisy race proven");
  EXPECT_EQ(machine.races, 3);
  Busy calmer(1000, 1, "", {1e-3, 1.5, 1e-3, 1.0, 1e-3, 1.0});
  EXPECT_EQ(TunedOn(calmer).flags.Print(), "race proven");
}

}  // namespace
}  // namespace kiln
