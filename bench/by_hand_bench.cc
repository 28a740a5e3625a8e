// Compares tuning with a schedule written by hand: a matrix product in Goto's order, with B packed and
// accumulators in registers. The hand-written schedule uses the best tiles of a table that a person might
// try.
//
//   by_hand_bench [--size 1024] [--trials 256] [--seed 0] [--results FILE]
//
// f32, one thread. The fastest entry of the table runs in turns with the tuned schedule: three runs of 50
// pairs. Prints the median of the three median ratios (by hand / tuned) with its 95% interval, and both as
// shares of the FMA peak. Appends them to the results as a line of JSON.
#include <algorithm>
#include <cstdio>

#include "backends/measure/measurer.h"
#include "backends/vendor/paired_timing.h"
#include "bench/fma_probe.h"
#include "bench/support/command_line.h"
#include "bench/support/json_results.h"
#include "bench/tune_alone.h"
#include "lang/analysis/cost.h"
#include "lang/base/check.h"
#include "testing/goto_matmul.h"

namespace kiln {
namespace {

constexpr int kRuns = 3, kPairs = 50, kFirstRuns = 5;

struct Options {
  int64_t size = 1024;
  int trials = 256;
  uint64_t seed = 0;
  std::string results = "bench/results/by_hand.json", commit;
};

std::vector<GotoTiles> Table(const Target& target) {
  const int64_t columns = 2 * target.vector_bytes / 4;
  std::vector<GotoTiles> table;
  for (const int64_t rows : {4, 6, 8, 12, 14}) {
    if (2 * rows + 3 > target.vector_registers || 4 * rows < target.vector_registers) continue;
    for (const int64_t high : {64, 128, 256})
      for (const int64_t wide : {256, 1024})
        for (const int64_t deep : {256, 512})
          table.push_back({high / rows * rows, rows, wide, columns, deep});
  }
  return table;
}

struct Timed {
  double seconds;
  KernelObject kernel;
  GotoTiles tiles;
};

absl::StatusOr<Timed> BestByHand(const Program& original, int64_t n, CpuMeasurer& measurer) {
  std::optional<Timed> best;
  for (const GotoTiles& tiles : Table(measurer.target())) {
    auto kernel = BuildKernel(original, GotoMatmul(n, n, n, tiles, true), measurer.builders());
    if (!kernel.ok()) return kernel.status();
    const auto ran = RunAlone({.kernel = *kernel, .timing = {.runs = kFirstRuns}, .limits = {.seconds = 60}});
    if (!ran.ok()) return ran.status();
    const double seconds = *std::min_element(ran->seconds.begin(), ran->seconds.end());
    if (!best || seconds < best->seconds) best = Timed{seconds, *std::move(kernel), tiles};
  }
  return *std::move(best);
}

absl::Status Measure(const Options& o) {
  const Program original = Matmul(o.size, o.size, o.size);
  auto measurer = CpuMeasurer::Start();
  if (!measurer.ok()) return measurer.status();
  const auto hand = BestByHand(original, o.size, *measurer);
  if (!hand.ok()) return hand.status();
  const auto tuned = TuneAlone(MatmulSource(o.size, o.size, o.size), {.trials = o.trials, .seed = o.seed});
  if (!tuned.ok()) return tuned.status();
  const auto kernel = BuildKernel(tuned->original, tuned->best.program, measurer->builders());
  if (!kernel.ok()) return kernel.status();
  const auto probe = MakeFmaProbe();
  if (!probe.ok()) return probe.status();
  std::vector<MedianInterval> ratios;
  std::vector<double> mine, others, peaks;
  for (int run = 0; run < kRuns; ++run) {
    RunRequest turns{.kernel = *kernel};
    turns.peers = {hand->kernel, probe->kernel};
    turns.timing.runs = kPairs;
    turns.limits.seconds = 600;
    const auto ran = RunPaired(hand->kernel, std::move(turns));
    if (!ran.ok()) return ran.status();
    ratios.push_back(RatioOf(ran->peer_seconds[0], ran->seconds));
    mine.push_back(MedianOf(ran->seconds).median);
    others.push_back(MedianOf(ran->peer_seconds[0]).median);
    peaks.push_back(1e-9 * probe->flops / MedianOf(ran->peer_seconds[1]).median);
  }
  std::sort(ratios.begin(), ratios.end(), [](const auto& a, const auto& b) { return a.median < b.median; });
  const MedianInterval& ratio = ratios[kRuns / 2];
  const auto share = [&](const std::vector<double>& seconds) {
    return 1e-9 * Flops(original) / MedianOf(seconds).median / MedianOf(peaks).median;
  };
  const GotoTiles& t = hand->tiles;
  AppendResult({{"name", original.name},
                {"size", o.size},
                {"machine", Host().fingerprint},
                {"commit", o.commit},
                {"trials", o.trials},
                {"seed", o.seed},
                {"ratio", ratio.median},
                {"ratio_interval", {ratio.low, ratio.high}},
                {"tuned_share_of_peak", share(mine)},
                {"by_hand_share_of_peak", share(others)},
                {"by_hand_tiles", {t.mc, t.mr, t.nc, t.nr, t.kc}}},
               o.results);
  std::printf("%ld^3: tuned %.3f [%.3f, %.3f] of by hand; %.0f%% and %.0f%% of the peak\n", o.size,
              ratio.median, ratio.low, ratio.high, 100 * share(mine), 100 * share(others));
  return absl::OkStatus();
}

int Main(int argc, char** argv) {
  Options o;
  CommandLine line("by_hand_bench", "A tuned product of matrices beside one scheduled by hand");
  line.Add("--size", &o.size, "Rows and columns", {.least = 1});
  line.Add("--trials", &o.trials, "", {.least = 1});
  line.Add("--seed", &o.seed);
  line.Add("--results", &o.results, "Lines of JSON, appended");
  line.Add("--commit", &o.commit, "Stored with results");
  if (const auto exit_code = line.Parse(argc, argv)) return *exit_code;
  const absl::Status status = Measure(o);
  if (!status.ok()) std::fprintf(stderr, "by_hand_bench: %s\n", status.ToString().c_str());
  return status.ok() ? 0 : 1;
}

}  // namespace
}  // namespace kiln

int main(int argc, char** argv) { return kiln::Main(argc, argv); }
