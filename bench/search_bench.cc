// Candidates a second, one thread: proposals of chains in the default space of the CPU, replayed, validated,
// featurized, scored by trained trees, and accepted or not; snapshots and everything else that a round does
// are included.
#include <benchmark/benchmark.h>

#include "lang/builder.h"
#include "lang/check.h"
#include "modules/space.h"
#include "search/cost/xgboost_model.h"
#include "search/features.h"
#include "search/judge.h"
#include "search/knowledge.h"
#include "search/population.h"
#include "search/simulated_machine.h"
#include "tests/support/tiled_matmul.h"
#include "trace/enumerate.h"

namespace kiln {
namespace {

struct Ready {
  Target target;
  SearchSpace space{Matmul(1024, 1024, 1024), target, {}, [this] { return MakeJudge(target); }};
  std::unique_ptr<CostModel> model = MakeXgboostModel(FeatureDim()).value();

  Ready() {
    const Space function = ParseSpace(DefaultSpace(target)).value();
    const Enumeration sketches = Enumerate(function, space.original, target).value();
    for (const Sketch& sketch : sketches.sketches) space.sketches.push_back(sketch.trace);
    Knowledge knowledge(1);
    SimulatedMachine machine(target);
    const Judge judge = MakeJudge(target);
    RandomDice dice(Engine{1});
    for (int n = 0; n < 256;) {
      const absl::StatusOr<Point> point = DrawPoint(space, judge, dice);
      if (!point.ok()) continue;
      knowledge.Add({0, CandidateOf(*point, 0), 0, machine.Seconds(point->replayed.program()), false},
                    point->features);
      ++n;
    }
    KILN_CHECK(knowledge.Teach(*model).ok());
  }
};

void Rounds(benchmark::State& state) {
  static Ready& ready = *new Ready();
  ThreadPool pool(1);
  Population population(ready.space, {}, 1, 0, pool);
  KILN_CHECK(population.Start().ok());
  RoundStats total;
  int round = 0;
  for (auto _ : state) {
    KILN_CHECK(population.Round(round++, *ready.model, {}, nullptr).ok());
    total.proposed += population.stats().proposed;
    total.valid += population.stats().valid;
    total.duplicates += population.stats().duplicates;
    total.accepted += population.stats().accepted;
  }
  const auto share = [&](int64_t part) {
    return static_cast<double>(part) / static_cast<double>(total.proposed);
  };
  state.counters["candidates"] =
      benchmark::Counter(static_cast<double>(total.proposed), benchmark::Counter::kIsRate);
  state.counters["new"] =
      benchmark::Counter(static_cast<double>(total.valid - total.duplicates), benchmark::Counter::kIsRate);
  state.counters["valid_share"] = share(total.valid);
  state.counters["duplicate_share"] = share(total.duplicates);
  state.counters["accepted_share"] = share(total.accepted);
  state.counters["sketches"] = static_cast<double>(ready.space.sketches.size());
}
BENCHMARK(Rounds)->Unit(benchmark::kMillisecond)->MinTime(2);

}  // namespace
}  // namespace kiln
