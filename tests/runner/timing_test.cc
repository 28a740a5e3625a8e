// Tests the timing of kernels by the runner: how long samples are, which samples are taken again, how many there are,
// and races of several kernels.
#include <gtest/gtest.h>
#include <sched.h>

#include <algorithm>
#include <atomic>
#include <thread>

#include "tests/runner/kernels.h"

namespace kiln {
namespace {

double Fastest(const std::vector<double>& seconds) {
  return *std::min_element(seconds.begin(), seconds.end());
}

// Runs `request` while an endless loop of another thread uses the same core.
RunResult RunBesideALoop(const RunRequest& request) {
  const int core = sched_getcpu();
  std::atomic<bool> runs = false, ends = false;
  std::thread loop([&] {
    cpu_set_t own;
    CPU_ZERO(&own);
    CPU_SET(core, &own);
    EXPECT_EQ(sched_setaffinity(0, sizeof own, &own), 0);
    for (runs = true; !ends;) continue;
  });
  while (!runs) std::this_thread::yield();
  const auto pool = StartPool({.cores = {{core}}});
  RunResult result = pool->RunAll({request}).front();
  ends = true;
  loop.join();
  return result;
}

// Tests that the samples of a kernel that spins for a known time are not shorter than that.
// tests/long/quiet_machine_test.cc tests that they are not longer.
TEST(Timing, OfAKnownSpinIsNotShorter) {
  for (const double seconds : {8e-6, 50e-6, 500e-6}) {
    RunRequest request = Spin(seconds);
    request.timing.runs = 100;
    const RunResult result = RunOne(request);
    ASSERT_EQ(Name(result), "ok") << result.detail;
    EXPECT_GT(Fastest(result.seconds), 0.95 * seconds);
  }
}

TEST(Timing, IsNotShorterWhereTheReferenceKernelWasStopped) {
  RunRequest request = Spin(500e-6);
  request.timing.runs = 9;
  RunRequest reference = Spin("(n + 1) % 8 ? 20e-6 : 5e-3");
  request.reference_kernel = ReferenceKernel{.kernel = reference.kernel, .seconds = 20e-6};
  const RunResult result = RunOne(request);
  ASSERT_EQ(Name(result), "ok") << result.detail;
  std::vector<double> seconds = result.seconds;
  std::sort(seconds.begin(), seconds.end());
  EXPECT_GT(seconds[seconds.size() / 2], 250e-6);  // only the faster half of the samples is reported
}

TEST(Timing, TakesSamplesAgainDuringWhichAnotherHadTheCore) {
  RunRequest request = Spin(1e-3);  // shorter than a scheduler's time slice, even on a busy core
  request.timing.runs = 600;
  request.timing.retakes = 3;
  const RunResult result = RunBesideALoop(request);
  ASSERT_EQ(Name(result), "ok") << result.detail;
  EXPECT_EQ(result.seconds.size(), 600u);
  EXPECT_EQ(result.retaken, 3);
  EXPECT_GT(result.preempted, 0);
}

TEST(Timing, TakesSamplesLongerThanTheSliceOfASchedulerOnce) {
  RunRequest request = Spin(20e-3);
  request.timing.runs = 10;
  const RunResult result = RunBesideALoop(request);
  ASSERT_EQ(Name(result), "ok") << result.detail;
  EXPECT_EQ(result.retaken, 0);
  EXPECT_GT(result.preempted, 0);
}

TEST(Timing, OfOneThreadIsWithoutTheTimeThatAnotherHadTheCore) {
  RunRequest request = Spin(40e-3);
  request.timing.runs = 9;
  const RunResult result = RunBesideALoop(request);
  ASSERT_EQ(Name(result), "ok") << result.detail;
  EXPECT_GT(result.preempted, 0);
  std::vector<double> seconds = result.seconds;
  std::sort(seconds.begin(), seconds.end());
  EXPECT_NEAR(seconds[seconds.size() / 2], 40e-3, 4e-3);
}

TEST(Timing, StopsByARuleAndSaysThatItIsALowerBound) {
  RunRequest request = Spin(2e-3);
  request.timing.runs = 10;
  request.timing.stop_rules = {{.after_runs = 1, .over_seconds = 1}, {.after_runs = 3, .over_seconds = 1e-3}};
  const RunResult result = RunOne(request);
  EXPECT_TRUE(result.lower_bound);
  EXPECT_EQ(result.seconds.size(), 3u);
}

TEST(Timing, TakesFewerSamplesOfAKernelThatTakesLong) {
  RunRequest request = Spin(20e-3);
  request.timing.runs = 10;
  request.timing.enough_seconds = 0.05;
  const RunResult result = RunOne(request);
  EXPECT_FALSE(result.lower_bound);
  EXPECT_EQ(result.seconds.size(), 3u);
}

TEST(Timing, TakesMoreSamplesUntilTheErrorIsSmallOrThereAreEnough) {
  RunRequest request = Spin("1e-3 * (1 + (n + 1) % 5)");
  request.timing.retakes = 0;  // no sample is repeated, so n counts them
  request.timing.target_error = 0.01;
  request.timing.max_samples = 17;
  EXPECT_EQ(RunOne(request).seconds.size(), 17u);
  request.timing.target_error = 100;
  EXPECT_EQ(RunOne(request).seconds.size(), 3u);
  request.timing.target_error = 0.01;
  request.timing.max_seconds = 0.02;
  EXPECT_LT(RunOne(request).seconds.size(), 12u);
}

TEST(Timing, EndsBeforeTheLimitOfTheRequest) {
  RunRequest request = Spin(50e-3);
  request.timing.runs = 1000;
  request.limits.seconds = 1;
  const RunResult result = RunOne(request);
  EXPECT_EQ(Name(result), "ok") << result.detail;
  EXPECT_GE(result.seconds.size(), 1u);
  EXPECT_LT(result.seconds.size(), 25u);
}

TEST(Race, TakesSamplesInTurnsAndTellsTheFasterOne) {
  RunRequest request = Spin(200e-6);
  request.peers = {Spin(100e-6).kernel, Spin(300e-6).kernel};
  request.timing.runs = 100;
  const RunResult result = RunOne(request);
  ASSERT_EQ(Name(result), "ok") << result.detail;
  ASSERT_EQ(result.peer_seconds.size(), 2u);
  ASSERT_EQ(result.seconds.size(), 100u);
  ASSERT_EQ(result.peer_seconds[1].size(), 100u);
  EXPECT_NEAR(Fastest(result.seconds), 200e-6, 20e-6);
  EXPECT_NEAR(Fastest(result.peer_seconds[0]), 100e-6, 10e-6);
  EXPECT_NEAR(Fastest(result.peer_seconds[1]), 300e-6, 30e-6);
}

// Races a kernel whose every second run is slow. Each turn has an untimed run before the timed one, so the test expects
// that all its timed runs are slow.
TEST(Race, LetsEachKernelFindItsOwnDataInTheCaches) {
  RunRequest request = Spin("(n + 1) % 2 ? 1e-3 : 3e-3");
  request.timing.warmups = 2;
  request.peers = {Spin(100e-6).kernel};
  request.timing.runs = 4;
  const RunResult result = RunOne(request);
  ASSERT_EQ(Name(result), "ok") << result.detail;
  EXPECT_GT(Fastest(result.seconds), 2.5e-3);
}

// Races a kernel whose timed run takes forty times longer if this kernel, and not its peer, also had the turn before.
// Tests by the long and short samples that the two kernels alternate in which of them begins a round.
TEST(Race, AlternatesTheOrderOfTurns) {
  const std::string spin =
      "static void spin(double s) { struct timespec t; double now, end = 0; do { "
      "clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t); "
      "now = t.tv_sec + 1e-9 * t.tv_nsec; if (end == 0) end = now + s; } while (now < end); }\n";
  RunRequest request =
      Request(spin +
              "int n, again; int f(float* a, float* b) { if (++n % 2 == 0) again = b[0] == 1; "
              "b[0] = 1; spin(n % 2 && again ? 80e-3 : 2e-3); return 0; }");
  request.peers = {Request(spin + "int f(float* a, float* b) { b[0] = 2; spin(2e-3); return 0; }").kernel};
  request.timing.runs = 5;
  request.timing.retakes = 0;
  std::string order;
  for (int attempt = 0; attempt < 10 && order != "11313"; ++attempt) {  // on a busy core 2 ms may take 40
    const RunResult result = RunOne(request);
    ASSERT_EQ(Name(result), "ok") << result.detail;
    order.clear();
    for (const double seconds : result.seconds) order += seconds > 40e-3 ? '3' : '1';
  }
  EXPECT_EQ(order, "11313");
}

TEST(Race, ChecksEveryPeer) {
  RunRequest request = Request(kTwice);
  request.reference = TwiceReference();
  request.peers = {request.kernel, Request("int f(float* a, float* b) { return 0; }").kernel};
  RunResult result = RunOne(request);
  EXPECT_EQ(Name(result), "wrong_result");
  EXPECT_EQ(result.detail.rfind("peer 1: parameter 1: element ", 0), 0u) << result.detail;
  request.peers.pop_back();
  EXPECT_EQ(Name(RunOne(request)), "ok");
}

}  // namespace
}  // namespace kiln
