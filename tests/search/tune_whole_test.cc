// Tests searches of models in which the whole model runs between rounds, to time each task within it.
#include <gtest/gtest.h>

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

}  // namespace
}  // namespace kiln
