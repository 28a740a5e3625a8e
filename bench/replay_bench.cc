// Replay as the search does it: a matmul of 1024 x 1024 x 1024 under SSRSRS with copies of both operands,
// partial sums in registers and the late steps; from the start, and from the snapshot of a site drawn
// uniformly with a decision proposed there.
#include <benchmark/benchmark.h>

#include <algorithm>
#include <chrono>
#include <vector>

#include "lang/builder.h"
#include "lang/check.h"
#include "tests/support/tiled_matmul.h"
#include "trace/mutate.h"
#include "trace/replay.h"

namespace kiln {
namespace {

void Space(Schedule& s) {
  const Schedule::Section section(s, "multi-level-tiling/matmul");
  const Block block = s.GetBlock("matmul");
  const std::vector<Loop> loops = s.GetLoops(block);
  const auto i = s.Split(loops[0], {s.SamplePerfectTile(loops[0], {.parts = 4}, "i")});
  const auto j = s.Split(loops[1], {s.SamplePerfectTile(loops[1], {.parts = 4}, "j")});
  const auto k = s.Split(loops[2], {s.SamplePerfectTile(loops[2], {.parts = 2}, "k")});
  s.Reorder({i[0], j[0], i[1], j[1], k[0], i[2], j[2], k[1], i[3], j[3]});
  const Block combine = s.AccumulateAt(block, k[0]);
  const Block a = s.CacheRead(block, 0), b = s.CacheRead(block, 1);
  s.ComputeAt(a, k[0]);
  s.ComputeAt(b, k[0]);
  for (const Block copy : {a, b, combine}) {
    const std::vector<Loop> around = s.GetLoops(copy);
    s.Vectorize(around.back());
    s.Annotate(copy, "placed", 1);
  }
  s.Unroll(i[3]);
  s.Vectorize(j[3]);
  const Loop outer = s.Fuse({i[0], j[0]});
  s.Parallel(outer);
  const Value unroll = s.SampleCategorical({0, 16, 64, 512}, {}, "unroll");
  s.UnrollUpTo(unroll);
}

struct Ready {
  Program program = Matmul(1024, 1024, 1024);
  Target target;
  Trace trace;
  std::vector<Replayed> starts;  // prior draws that apply

  Ready() {
    RandomDice dice(Engine({1}));
    RandomChooser chooser(dice);
    Schedule s(program, target, chooser);
    Space(s);
    KILN_CHECK(s.ok(), s.status().ToString());
    trace = Trace::Of(s);
    while (starts.size() < 64) {
      absl::StatusOr<Replayed> start = Replay(trace, program, target, chooser);
      if (start.ok()) starts.push_back(*std::move(start));
    }
  }
};

const Ready& Get() {
  static const Ready* ready = new Ready();
  return *ready;
}

void FullReplay(benchmark::State& state) {
  const Ready& ready = Get();
  size_t n = 0;
  for (auto _ : state) {
    const Replayed& start = ready.starts[n++ % ready.starts.size()];
    struct Same final : Chooser {
      const Replayed* of;
      size_t next = 0;
      Decision Choose(const Site&) override { return of->sites[next++].decision; }
      int ChooseStructure(absl::string_view, int) override { return 0; }
    } same;
    same.of = &start;
    benchmark::DoNotOptimize(Replay(ready.trace, ready.program, ready.target, same));
  }
  state.counters["steps"] = static_cast<double>(ready.trace.steps.size());
}
BENCHMARK(FullReplay);

// As a chain does it; what does not apply is counted apart.
void ProposalReplay(benchmark::State& state) {
  const Ready& ready = Get();
  std::vector<double> microseconds;
  RandomDice dice(Engine({2}));
  std::vector<Replayed> chains = ready.starts;
  int64_t n = 0, refused = 0;
  for (auto _ : state) {
    Replayed& chain = chains[n++ % static_cast<int64_t>(chains.size())];
    const int site = static_cast<int>(dice.Below(static_cast<int64_t>(chain.sites.size())));
    const auto before = std::chrono::steady_clock::now();
    absl::StatusOr<Proposal> proposal = Mutate(chain, site, dice);
    const std::chrono::duration<double, std::micro> took = std::chrono::steady_clock::now() - before;
    microseconds.push_back(took.count());
    if (!proposal.ok()) {
      ++refused;
    } else if (dice.Flip(0.3)) {
      chain = std::move(proposal->to);
    }
  }
  std::sort(microseconds.begin(), microseconds.end());
  state.counters["median_us"] = microseconds[microseconds.size() / 2];
  state.counters["p95_us"] = microseconds[microseconds.size() * 95 / 100];
  state.counters["refused"] = static_cast<double>(refused) / static_cast<double>(n);
}
BENCHMARK(ProposalReplay);

void CopyProgram(benchmark::State& state) {
  const Ready& ready = Get();
  for (auto _ : state) {
    Program copy = ready.starts[0].program();
    benchmark::DoNotOptimize(copy);
  }
}
BENCHMARK(CopyProgram);

}  // namespace
}  // namespace kiln
