// Tests RunAlone and RunPaired, which time kernels in turns, and the statistics of their times: medians and ratios with
// confidence intervals from resampling.
#include "backends/vendor/paired_timing.h"

#include <gmock/gmock.h>

#include <random>

#include "tests/backends/workers.h"
#include "tests/runner/kernels.h"

namespace kiln {
namespace {

using ::testing::HasSubstr;

TEST(Beside, KernelsAreToldHowManyThreadsTheyHave) {
  RunRequest request = Request(
      "static int threads;\nvoid set(int count) { threads = count; }\n"
      "int f(float* a, float* b) { return 10 * threads; }");
  request.kernel.threads_symbol = "set";
  request.threads = 2;
  EXPECT_EQ(RunAlone(request, ProgramPath("kiln-runner")).status().message(),
            "non_zero_status: the kernel returned 20");
}

TEST(Beside, AMedianHasTheIntervalOfItsResamples) {
  EXPECT_EQ(MedianOf({3}).low, 3);
  EXPECT_EQ(MedianOf({1, 2, 10}).median, 2);
  EXPECT_EQ(MedianOf({1, 2, 3, 10}).median, 2.5);
  const MedianInterval same = MedianOf(std::vector<double>(50, 7.0));
  EXPECT_EQ(same.low, 7);
  EXPECT_EQ(same.high, 7);
}

TEST(Beside, TheIntervalHoldsTheTrueMedianInAboutNinetyFiveOfAHundred) {
  std::mt19937 random(5);
  std::exponential_distribution<double> draw;
  int held = 0;
  for (int run = 0; run < 400; ++run) {
    std::vector<double> samples(50);
    for (double& sample : samples) sample = draw(random);
    const MedianInterval found = MedianOf(samples);
    held += found.low <= std::log(2) && std::log(2) <= found.high;
  }
  EXPECT_NEAR(held, 380, 16);
}

TEST(Beside, RatiosArePaired) {
  const MedianInterval ratio = RatioOf({2, 20, 200}, {1, 10, 100});
  EXPECT_EQ(ratio.low, 2);
  EXPECT_EQ(ratio.median, 2);
  EXPECT_EQ(ratio.high, 2);
}

TEST(Beside, AKernelThatComputesSomethingElseIsNotTimed) {
  const auto builders = StartBuilders();
  const Program right = Affine(64, 2), wrong = Affine(64, 3);
  RunRequest request;
  request.kernel = BuildKernel(right, wrong, *builders).value();
  const KernelObject trusted = BuildKernel(right, right, *builders).value();
  const auto ran = RunPaired(trusted, request, ProgramPath("kiln-runner"));
  EXPECT_EQ(ran.status().code(), absl::StatusCode::kInternal);
  EXPECT_THAT(std::string(ran.status().message()), HasSubstr("wrong"));
  request.kernel = trusted;
  request.peers = {trusted};
  const auto twice = RunPaired(trusted, request, ProgramPath("kiln-runner"));
  ASSERT_TRUE(twice.ok()) << twice.status();
  EXPECT_EQ(twice->peer_seconds[0].size(), twice->seconds.size());
}

}  // namespace
}  // namespace kiln
