// Tests that a search of 10,000 trials, measured on the simulated machine, takes less than 1 GiB of memory.
#include <gtest/gtest.h>
#include <sys/resource.h>

#include "modules/space.h"
#include "search/cost/models.h"
#include "search/database/memory_store.h"
#include "search/measure/simulated_machine.h"
#include "search/run/tune.h"
#include "testing/matmul.h"

namespace kiln {
namespace {

double PeakMebibytes() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return static_cast<double>(usage.ru_maxrss) / 1024;
}

// Runs a search with so many trials for a product of 1024 x 1024 x 1024, on the simulated machine, with the cost model
// "trees".
void Search(int trials) {
  Target target;
  target.cores = 1;
  SimulatedMachine machine(target);
  const auto store = MakeMemoryStore();
  TuneOptions options;
  options.trials = trials;
  options.sketches.space = DefaultSpace(target);
  options.model = [](int) { return MakeCostModel("trees"); };
  const auto results = Tune({{"matmul", Matmul(1024, 1024, 1024), 0}},
                            ParseSpace(options.sketches.space).value(), target, options, machine, *store);
  EXPECT_TRUE(results.ok()) << results.status();
  if (results.ok()) EXPECT_EQ((*results)[0].trials, trials);
}

TEST(LongSearch, OfTenThousandTrialsStaysUnderAGibibyte) {
  Search(10000);
  std::printf("peak memory %.0f MiB\n", PeakMebibytes());
  EXPECT_LT(PeakMebibytes(), 1024);
}

}  // namespace
}  // namespace kiln
