// Tests measured times: of kernels that spin for a known time, and with cold and warm caches. These tests need a
// machine that runs nothing else. bench/floors/floors_bench.cc has the speeds that must be reached.
#include <gtest/gtest.h>

#include <algorithm>

#include "backends/measure/measurer.h"
#include "backends/runner/timing.h"
#include "test_paths.h"
#include "tests/backends/workers.h"
#include "tests/runner/kernels.h"

namespace kiln {
namespace {

double Fastest(const std::vector<double>& seconds) {
  return *std::min_element(seconds.begin(), seconds.end());
}

// Returns the resolution of MonotonicSeconds in seconds: the shortest difference between two readings.
double ResolutionOfTheClock() {
  double least = 1;
  for (int i = 0; i < 10000; ++i) {
    const double one = MonotonicSeconds();
    double other = one;
    while (other == one) other = MonotonicSeconds();
    least = std::min(least, other - one);
  }
  return least;
}

double Fastest(bool cold, const Program& program) {
  auto measurer = CpuMeasurer::Start({.cold_cache = cold,
                                      .builder_path = ProgramPath("kiln-builder"),
                                      .runner_path = ProgramPath("kiln-runner")});
  EXPECT_TRUE(measurer.ok()) << measurer.status();
  const std::vector<MeasureRequest> requests = {
      {.original = &program, .scheduled = &program, .thorough = true}};
  const MeasureResult result = measurer->Measure(requests)[0];
  EXPECT_TRUE(result.ok()) << result.error;
  return Fastest(result.samples);
}

TEST(QuietMachine, AKnownSpinIsTimedWithinTenPercent) {
  for (const double seconds : {8e-6, 50e-6, 500e-6}) {
    RunRequest request = Spin(seconds);
    request.timing.runs = 100;
    const RunResult result = RunOne(request);
    ASSERT_EQ(Name(result), "ok") << result.detail;
    EXPECT_NEAR(Fastest(result.seconds), seconds, 0.1 * seconds);
  }
}

TEST(QuietMachine, FindsNothingInColdCaches) {
  const Program program = Affine(1 << 13);
  EXPECT_GT(Fastest(true, program), 1.2 * Fastest(false, program));
}

TEST(QuietMachine, OfColdCachesIsSlower) {
  constexpr int kElements = 16384;
  RunRequest request = Request(
      "int f(float* a, float* b) { for (int i = 0; i < 16384; i += 16) b[i] = a[i]; return 0; }", kElements);
  request.timing.runs = 20;
  const RunResult warm = RunOne(request);
  request.timing.cold_cache = true;
  const RunResult cold = RunOne(request);
  ASSERT_EQ(Name(cold), "ok") << cold.detail;
  EXPECT_GT(Fastest(cold.seconds), 1.5 * Fastest(warm.seconds));
}

TEST(QuietMachine, OfAShortKernelDoesNotDependOnTheResolutionOfTheClock) {
  RunRequest request = Request("int f(float* a, float* b) { return 0; }");
  request.timing.runs = 20;
  const RunResult result = RunOne(request);
  EXPECT_LT(Fastest(result.seconds), ResolutionOfTheClock());
  EXPECT_GT(Fastest(result.seconds), 0);
}

TEST(QuietMachine, IsRelativeToAReferenceKernelThatTakesTwiceAsLongAsUndisturbed) {
  RunRequest request = Spin(500e-6);
  request.timing.runs = 41;
  request.reference_kernel = ReferenceKernel{.kernel = Spin(20e-6).kernel, .seconds = 10e-6};
  const RunResult result = RunOne(request);
  ASSERT_EQ(Name(result), "ok") << result.detail;
  EXPECT_NEAR(result.slowdown, 2, 0.2);
  std::vector<double> seconds = result.seconds;
  std::sort(seconds.begin(), seconds.end());
  EXPECT_NEAR(seconds[seconds.size() / 2], 250e-6, 25e-6);

  request.reference_kernel->seconds = 0;
  EXPECT_EQ(RunOne(request).detail, "the time of the reference kernel must be positive");
}

// Simulates a core that is disturbed half of the time: in 40 of 80 runs, the reference kernel takes twice as long.
// Tests that only samples from the undisturbed time are reported.
TEST(QuietMachine, ReportsSamplesOfAQuietCoreWhereThereAreEnough) {
  RunRequest request = Spin(500e-6);
  request.timing.runs = 20;
  const RunRequest reference = Spin("n % 80 < 40 ? 40e-6 : 20e-6");
  request.reference_kernel = ReferenceKernel{.kernel = reference.kernel, .seconds = 20e-6};
  const RunResult result = RunOne(request);
  ASSERT_EQ(Name(result), "ok") << result.detail;
  EXPECT_TRUE(result.quiet);
  EXPECT_GE(result.seconds.size(), 10u);
  for (const double seconds : result.seconds) EXPECT_GT(seconds, 400e-6);
  EXPECT_GE(result.raw_samples.size(), 4 * result.seconds.size());
  std::vector<double> slowdowns;
  for (size_t i = 0; i < result.raw_samples.size(); i += 2) {
    EXPECT_GT(result.raw_samples[i], 450e-6);
    slowdowns.push_back(result.raw_samples[i + 1]);
  }
  EXPECT_NEAR(*std::min_element(slowdowns.begin(), slowdowns.end()), 1, 0.1);
  EXPECT_GT(*std::max_element(slowdowns.begin(), slowdowns.end()), 1.5);

  request.reference_kernel->seconds = 40e-6;
  EXPECT_NEAR(RunOne(request).least_slowdown, 0.5, 0.05);
}

}  // namespace
}  // namespace kiln
