// Measures candidates per second on one thread: chains in the default space of a CPU or a GPU propose, replay,
// validate, extract features, score with trained trees, and accept or reject. Snapshots and all other work of a
// round are included. Budgets: 5000 for the matmul, 3000 on a GPU.
#include <benchmark/benchmark.h>

#include <cmath>

#include "bench/default_spaces.h"
#include "search/cost/analytic.h"
#include "search/cost/xgboost_model.h"
#include "search/features/features.h"
#include "search/measure/simulated_machine.h"
#include "search/propose/measured_history.h"
#include "search/sampler/population.h"

namespace kiln {
namespace {

std::unique_ptr<CostModel> Trained(const DefaultSearch& search) {
  const FeatureKind kind = KindFor(search.space.target, FeatureKind::kAnsor);
  std::unique_ptr<CostModel> model = MakeXgboostModel(FeatureDim(kind)).value();
  MeasuredHistory history(1);
  const SimulatedMachine machine(search.space.target);
  for (const auto& point : search.draws) {
    const double seconds = kind == FeatureKind::kGpu ? std::exp(-AnalyticScore(point->features.values, kind))
                                                     : machine.Seconds(point->replayed.program());
    history.Add({0, CandidateOf(*point, 0), 0, seconds, false}, point->features);
  }
  KILN_CHECK(history.Teach(*model).ok());
  return model;
}

void Rounds(benchmark::State& state, DefaultSearch& (*search)()) {
  const SearchSpace& space = search().space;
  const std::unique_ptr<CostModel> model = Trained(search());
  ThreadPool pool(1);
  Population population(space, {}, 1, 0, pool);
  KILN_CHECK(population.Start().ok());
  RoundStats total;
  int round = 0;
  for (auto _ : state) {
    KILN_CHECK(population.Round(round++, *model, {}, nullptr).ok());
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
  state.counters["sketches"] = static_cast<double>(space.sketches.size());
}
BENCHMARK_CAPTURE(Rounds, matmul_1024, &MatmulSearch)->Unit(benchmark::kMillisecond)->MinTime(2);
BENCHMARK_CAPTURE(Rounds, convolution_3x3, &ConvolutionSearch)->Unit(benchmark::kMillisecond)->MinTime(2);
BENCHMARK_CAPTURE(Rounds, gpu_matmul_1024, &GpuMatmulSearch)->Unit(benchmark::kMillisecond)->MinTime(2);
BENCHMARK_CAPTURE(Rounds, gpu_convolution_3x3, &GpuConvolutionSearch)
    ->Unit(benchmark::kMillisecond)
    ->MinTime(2);
BENCHMARK_CAPTURE(Rounds, gpu_softmax, &GpuSoftmaxSearch)->Unit(benchmark::kMillisecond)->MinTime(2);

}  // namespace
}  // namespace kiln
