// Measures replay as the search does it, in microseconds of CPU time on one thread: from a chain's proposal in the
// default space (over all sketches) to the call of the validator, snapshots included. Also measures replays of whole
// traces, and copies of programs. Budgets: a median of 50 for the matmul and 100 for the convolution, and 3 for copying
// a program.
#include <benchmark/benchmark.h>
#include <time.h>

#include <algorithm>
#include <numeric>
#include <vector>

#include "bench/default_spaces.h"

namespace kiln {
namespace {

double Microseconds() {
  timespec now;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return 1e6 * static_cast<double>(now.tv_sec) + 1e-3 * static_cast<double>(now.tv_nsec);
}

void Report(benchmark::State& state, std::vector<double> took, int64_t refused) {
  std::sort(took.begin(), took.end());
  const double n = static_cast<double>(took.size());
  state.counters["median_us"] = took[took.size() / 2];
  state.counters["p95_us"] = took[took.size() * 95 / 100];
  state.counters["mean_us"] = std::accumulate(took.begin(), took.end(), 0.0) / n;
  state.counters["refused"] = static_cast<double>(refused) / n;
}

// Times one proposal of a chain that samples the prior, from its beginning to the call of the validator.
void Proposal(benchmark::State& state, DefaultSearch& (*search)()) {
  const SearchSpace& space = search().space;
  std::vector<std::shared_ptr<const Point>> chains = search().draws;
  double end = 0;
  const Prefilter validate = space.make_prefilter();
  const Prefilter prefilter = [&](const Replayed& replayed, FeatureSet& features) {
    end = Microseconds();
    return validate(replayed, features);
  };
  RandomDice dice(Engine({2}));
  std::vector<double> took;
  int64_t refused = 0;
  for (auto _ : state) {
    std::shared_ptr<const Point>& chain = chains[took.size() % chains.size()];
    end = 0;
    const double start = Microseconds();
    const Move move = Propose(space, prefilter, *chain, 0.05, dice);
    refused += end == 0;
    took.push_back((end == 0 ? Microseconds() : end) - start);
    if (Accept(move, 0, 0, 1, dice)) chain = move.to;
  }
  Report(state, std::move(took), refused);
  state.counters["sketches"] = static_cast<double>(space.sketches.size());
}

void FullReplay(benchmark::State& state, DefaultSearch& (*search)()) {
  const SearchSpace& space = search().space;
  std::vector<Trace> traces;
  for (const auto& point : search().draws) traces.push_back(WithDecisions(point->replayed));
  std::vector<double> took;
  for (auto _ : state) {
    const Trace& trace = traces[took.size() % traces.size()];
    const double start = Microseconds();
    const absl::StatusOr<Replayed> replayed = Replay(trace, space.original, space.target);
    took.push_back(Microseconds() - start);
    KILN_CHECK(replayed.ok(), replayed.status().ToString());
  }
  Report(state, std::move(took), 0);
}

void CopyProgram(benchmark::State& state, DefaultSearch& (*search)()) {
  const auto& draws = search().draws;
  size_t n = 0;
  for (auto _ : state) {
    Program copy = draws[n++ % draws.size()]->replayed.program();
    benchmark::DoNotOptimize(copy);
  }
}

#define KILN_BENCH(function)                               \
  BENCHMARK_CAPTURE(function, matmul_1024, &MatmulSearch); \
  BENCHMARK_CAPTURE(function, convolution_3x3, &ConvolutionSearch)
KILN_BENCH(Proposal);
KILN_BENCH(FullReplay);
KILN_BENCH(CopyProgram);

}  // namespace
}  // namespace kiln
