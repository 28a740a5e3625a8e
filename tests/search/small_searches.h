// A task and options for tests: searches on the simulated machine that take milliseconds.
#pragma once

#include <gtest/gtest.h>

#include "search/cost/xgboost_model.h"
#include "search/database/memory_store.h"
#include "search/measure/simulated_machine.h"
#include "search/run/tune.h"
#include "tests/search/tiling_space.h"

namespace kiln {

inline const std::vector<TuneTask>& OneTask() {
  static const std::vector<TuneTask> tasks = {{"matmul", Matmul(128, 128, 128), 2.0 * 128 * 128 * 128}};
  return tasks;
}

// Returns options of a search that is small enough to run many times per second.
inline TuneOptions Small(int trials, uint64_t seed) {
  static const FakeClock clock;
  TuneOptions options;
  options.trials = trials;
  options.seed = seed;
  options.search.population.chains = 32;
  options.search.population.steps = 8;
  options.clock = &clock;
  options.model = [](int dim) {
    return MakeXgboostModel(dim, {.first_trees = 10, .more_trees = 3, .depth = 4});
  };
  return options;
}

inline std::vector<TuneResult> MustTune(const TuneOptions& options, Measurer& measurer, Store& store,
                                        const std::vector<TuneTask>& tasks = OneTask()) {
  auto results = Tune(tasks, TilingSpace, Target(), options, measurer, store);
  EXPECT_TRUE(results.ok()) << results.status();
  return results.ok() ? *std::move(results) : std::vector<TuneResult>(tasks.size());
}

inline std::vector<RecordRow> RecordsOf(Store& store) { return store.ReadAll()->records; }

}  // namespace kiln
