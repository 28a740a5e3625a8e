// Tests that matmuls of random shapes are tuned to a good share of the machine's peak.
#include <gtest/gtest.h>

#include <cstdio>
#include <random>

#include "absl/strings/str_cat.h"
#include "backends/measure/measurer.h"
#include "backends/vendor/paired_timing.h"
#include "bench/fma_probe.h"
#include "bench/tune_alone.h"
#include "lang/analysis/cost.h"
#include "test_paths.h"
#include "testing/drawn_seed.h"

namespace kiln {
namespace {

constexpr int kTrials = 64;
constexpr double kShare = 0.25;

struct Shape {
  int64_t m, n, k;
};

// A random shape whose extents are multiples of 8.
Shape RandomShape(uint64_t seed) {
  std::mt19937_64 random(seed);
  std::uniform_int_distribution<int64_t> eighths(16, 64);
  const int64_t m = eighths(random), n = eighths(random), k = eighths(random);
  return {8 * m, 8 * n, 8 * k};
}

TEST(Peak, AMatmulOfAnyShapeReachesAQuarterOfItInSixtyFourTrials) {
  const uint64_t seed = DrawnSeed();
  const Shape shape = RandomShape(seed);
  const std::string name = absl::StrCat(shape.m, " x ", shape.n, " x ", shape.k, ", seed ", seed);
  SCOPED_TRACE(name);
  const std::string build = KILN_BUILD_DIR, runner = build + "/kiln-runner";
  auto measurer = CpuMeasurer::Start({.builder_path = build + "/kiln-builder", .runner_path = runner});
  ASSERT_TRUE(measurer.ok()) << measurer.status();
  const auto tuned =
      TuneAlone(MatmulSource(shape.m, shape.n, shape.k), {.trials = kTrials, .seed = seed}, build);
  ASSERT_TRUE(tuned.ok()) << tuned.status();

  const auto kernel = BuildKernel(tuned->original, tuned->best.program, measurer->builders());
  ASSERT_TRUE(kernel.ok()) << kernel.status();
  const auto probe = MakeFmaProbe();
  ASSERT_TRUE(probe.ok()) << probe.status();
  RunRequest turns;
  turns.kernel = *kernel;
  turns.peers = {probe->kernel};
  turns.timing.runs = 20;
  turns.limits.seconds = 600;
  const auto ran = RunAlone(turns, runner);
  ASSERT_TRUE(ran.ok()) << ran.status();
  const double gflops =
      1e-9 * Flops(tuned->original) / *std::min_element(ran->seconds.begin(), ran->seconds.end());
  const double peak =
      1e-9 * probe->flops / *std::min_element(ran->peer_seconds[0].begin(), ran->peer_seconds[0].end());
  std::printf("  %s: %.1f GFLOP/s, %.0f%% of %.1f\n", name.c_str(), gflops, 100 * gflops / peak, peak);
  EXPECT_GE(gflops, kShare * peak);
}

}  // namespace
}  // namespace kiln
