#include "search/measure/simulated_machine.h"

#include <gtest/gtest.h>

#include "search/measure/recorded_measurer.h"
#include "testing/matmul.h"

namespace kiln {
namespace {

MeasureRequest Of(const Program& program) { return {.task = 0, .original = &program, .scheduled = &program}; }

TEST(SimulatedMachine, PrefersTilesAndVectors) {
  const Target target;
  const SimulatedMachine machine(target);
  const Program plain = Matmul(256, 256, 256);
  const TiledMatmul tiled(plain, target, {{16, 4, 4}, {4, 4, 16}, {8, 32}}, false);
  EXPECT_LT(5 * machine.Seconds(tiled.program()), machine.Seconds(plain));
  EXPECT_LT(machine.Seconds(Matmul(64, 64, 64)), machine.Seconds(plain));
}

TEST(SimulatedMachine, GivesTheSameProgramTheSameSamples) {
  const Program a = Matmul(32, 32, 32), same = Matmul(32, 32, 32, "other_"), b = Matmul(64, 32, 32);
  SimulatedMachine machine(Target(), {.seed = 3});
  const auto first = machine.Measure({Of(a), Of(b)});
  const auto second = machine.Measure({Of(b), Of(same)});
  EXPECT_EQ(first[0].samples, second[1].samples);
  EXPECT_EQ(first[1].samples, second[0].samples);
  EXPECT_NE(first[0].samples, SimulatedMachine(Target(), {.seed = 4}).Measure({Of(a)})[0].samples);
}

TEST(SimulatedMachine, FailsAtTheRatesThatAreAsked) {
  SimulatedMachine machine(Target(), {.crashes = 0.2, .hangs = 0.1, .wrong_results = 0.3});
  std::map<std::string, int> seen;
  for (int n = 1; n <= 500; ++n) {
    const Program program = Matmul(n, 4, 4);
    ++seen[machine.Measure({Of(program)})[0].status];
  }
  EXPECT_NEAR(seen["crashed"], 100, 35);
  EXPECT_NEAR(seen["timed_out"], 50, 25);
  EXPECT_NEAR(seen["wrong_result"], 150, 40);
  EXPECT_NEAR(seen["ok"], 200, 45);
}

TEST(SimulatedMachine, StopsWhatIsMuchSlowerEarly) {
  const Program program = Matmul(64, 64, 64);
  SimulatedMachine machine{Target()};
  MeasureRequest request = Of(program);
  request.best_seconds = machine.Seconds(program) / 3;
  EXPECT_TRUE(machine.Measure({request})[0].lower_bound);
  request.best_seconds = machine.Seconds(program) / 1.5;
  EXPECT_FALSE(machine.Measure({request})[0].lower_bound);
}

TEST(RecordedMeasurer, AnswersAsTheMachineDid) {
  const Program a = Matmul(32, 32, 32), b = Matmul(64, 32, 32), c = Matmul(16, 32, 32);
  SimulatedMachine machine(Target(), {.seed = 3});
  Recording recording;
  const auto recorded = RecordedMeasurer(recording, &machine).Measure({Of(a), Of(b)});
  RecordedMeasurer replayed(recording);
  const auto again = replayed.Measure({Of(b), Of(c), Of(a)});
  EXPECT_EQ(again[0].samples, recorded[1].samples);
  EXPECT_EQ(again[1].status, outcome::kInterrupted);
  EXPECT_EQ(again[2].samples, recorded[0].samples);
  EXPECT_EQ(replayed.Race({Of(a)})[0].status, outcome::kInterrupted);
}

}  // namespace
}  // namespace kiln
