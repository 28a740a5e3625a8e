// Tests that the runner runs kernels that take their parameters in a table, int f(void* const* p). Also tests profiles
// of calls and rotated copies of constants.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "backends/runner/timing.h"
#include "backends/workers/frames.h"
#include "backends/workers/worker_process.h"
#include "tests/runner/kernels.h"
#include "tests/support/repeats.h"

namespace kiln {
namespace {

using testing::HasSubstr;

constexpr int kInputs = 99;

// Returns a request to run the C code `body` with a table of parameters: p[0..98] are inputs of eight f32, and p[99] is
// the output.
RunRequest Table(const std::string& body) {
  RunRequest request = Request(body, 8);
  const KernelParam input = request.kernel.params[0], output = request.kernel.params[1];
  request.kernel.takes_table = true;
  request.kernel.params = std::vector<KernelParam>(kInputs, input);
  request.kernel.params.push_back(output);
  return request;
}

constexpr char kSum[] =
    "int f(void* const* p) { float* y = p[99]; for (int i = 0; i < 8; ++i) { y[i] = 0; "
    "for (int k = 0; k < 99; ++k) y[i] += ((float*)p[k])[i]; } return 0; }";

std::string SumReference() {
  RunRequest request = Table(kSum);
  request.write_reference_to = TestFolder() / "sum";
  EXPECT_EQ(Name(RunOne(request)), "ok");
  return request.write_reference_to;
}

TEST(Table, HoldsAnyNumberOfParameters) {
  RunRequest request = Table(kSum);
  request.reference = SumReference();
  const RunResult result = RunOne(request);
  EXPECT_EQ(Name(result), "ok") << result.detail;
  EXPECT_EQ(result.seconds.size(), 3u);
  EXPECT_EQ(result.max_error, 0);

  const std::string bytes = ReadFile(request.reference);
  ASSERT_EQ(bytes.size(), 8 * sizeof(float));
  float wanted = 0;
  for (int k = 0; k < kInputs; ++k) wanted += static_cast<float>(InputValue(7, k, "f32", 5));
  EXPECT_EQ(LoadElement("f32", bytes.data(), 5), wanted);
}

TEST(Table, OfAWrongKernelGivesAWrongResult) {
  RunRequest request = Table(
      "int f(void* const* p) { float* y = p[99]; for (int i = 0; i < 8; ++i) { y[i] = 0; "
      "for (int k = 0; k < 98; ++k) y[i] += ((float*)p[k])[i]; } return 0; }");
  request.reference = SumReference();
  EXPECT_THAT(RunOne(request).detail, HasSubstr("parameter 99: element "));
}

TEST(Table, HasGuardedBuffers) {
  if (kSanitized) GTEST_SKIP() << "a sanitized runner does not watch memory";
  const RunResult past = RunOne(Table("int f(void* const* p) { return ((volatile char*)p[77])[64]; }"));
  EXPECT_EQ(Name(past), "guard_violated");
  EXPECT_EQ(past.detail, "access 32 bytes past the end of parameter 77 (input, 8 of f32), in the warm-up");
  const RunResult write = RunOne(Table("int f(void* const* p) { *(volatile char*)p[3] = 1; return 0; }"));
  EXPECT_THAT(write.detail,
              HasSubstr("write to byte 0 of parameter 3 (input, 8 of f32), which is read-only"));
}

TEST(Table, IsPassedToPrepareToo) {
  RunRequest request = Table(
      "int g(void* const* p) { *(float*)p[100] = *(float*)p[4]; return 0; }\n"
      "int f(void* const* p) { for (int i = 0; i < 8; ++i) ((float*)p[99])[i] = *(float*)p[100]; return 0; }");
  request.kernel.prepare_symbol = "g";
  request.kernel.params[4].role = KernelParam::kConstant;
  request.kernel.params.push_back({.dtype = "f32", .elements = 1, .role = KernelParam::kPrepared});
  request.write_reference_to = TestFolder() / "prepared";
  const RunResult result = RunOne(request);
  ASSERT_EQ(Name(result), "ok") << result.detail;
  EXPECT_EQ(LoadElement("f32", ReadFile(request.write_reference_to).data(), 7), InputValue(7, 4, "f32", 0));
}

TEST(Table, RunsInTurnsWithPeersThatTakeTheirParametersOneByOne) {
  RunRequest request = Request(
      "int f(void* const* p) { for (int i = 0; i < 1000; ++i) "
      "((float*)p[1])[i] = 2 * ((float*)p[0])[i]; return 0; }");
  request.kernel.takes_table = true;
  request.peers = {Request(kTwice).kernel};
  request.reference = TwiceReference();
  const RunResult result = RunOne(request);
  EXPECT_EQ(Name(result), "ok") << result.detail;
  EXPECT_EQ(result.peer_seconds.size(), 1u);
}

TEST(Table, NeedsItsSymbol) {
  RunRequest request = Table(kSum);
  request.kernel.symbol = "f_table";
  EXPECT_EQ(RunOne(request).detail, "the shared object has no symbol 'f_table'");
  request.kernel.symbol = "f";
  request.kernel.prepare_symbol = "f_prepare_table";
  EXPECT_EQ(RunOne(request).detail, "the shared object has no symbol 'f_prepare_table'");
  EXPECT_EQ(Name(RunOne(request)), "load_failed");
}

// C code of a kernel that only writes a zero, and of its profiled variant: this writes the times before, between and
// after two calls to p[100], as if the second call took 20 ms.
constexpr char kProfiled[] = R"(
#include <time.h>
int f(void* const* p) { ((float*)p[99])[0] = 0; return 0; }
int f_profiled(void* const* p) {
  struct timespec* stamps = p[100];
  clock_gettime(CLOCK_MONOTONIC, &stamps[0]);
  clock_gettime(CLOCK_MONOTONIC, &stamps[1]);
  do clock_gettime(CLOCK_MONOTONIC, &stamps[2]);
  while ((stamps[2].tv_sec - stamps[1].tv_sec) * 1000000000 + stamps[2].tv_nsec - stamps[1].tv_nsec < 20000000);
  return 0;
})";

TEST(Profile, HasTheTimeOfEachCallInEachRun) {
  RunRequest request = Table(kProfiled);
  request.timing.runs = 1;
  request.profile = {.symbol = "f_profiled", .calls = 2, .runs = 3};
  const RunResult result = RunOne(request);
  ASSERT_EQ(Name(result), "ok") << result.detail;
  ASSERT_EQ(result.call_seconds.size(), 3u);
  for (const std::vector<double>& run : result.call_seconds) {
    ASSERT_EQ(run.size(), 2u);
    EXPECT_GE(run[0], 0);
    EXPECT_GE(run[1], 0.02);
  }

  request.profile->symbol = "none";
  EXPECT_EQ(RunOne(request).detail, "the shared object has no symbol 'none'");
}

// A kernel that returns nonzero if its constant had the same address as in the run before more than three times. Tests
// that timed runs read copies of the constant in rotation if `rotated_bytes` is given, and one copy otherwise.
TEST(InModel, TimedRunsReadCopiesOfConstantsInTurn) {
  RunRequest request = Request(R"(
static const float* last;
static int same, runs;
int f(const float* x, float* y) {
  same += x == last;
  last = x;
  for (int i = 0; i < 1000; ++i) y[i] = 2 * x[i];
  return ++runs > 4 && same > 3;
})",
                               1000);
  request.kernel.params[0].role = KernelParam::kConstant;
  request.timing.runs = 5;
  EXPECT_EQ(Name(RunOne(request)), "non_zero_status");
  request.timing.rotated_bytes = 20000;
  const RunResult result = RunOne(request);
  EXPECT_EQ(Name(result), "ok") << result.detail;
  EXPECT_EQ(result.seconds.size(), 5u);
}

TEST(InModel, CopiesFillTheBytesThatTheKernelReads) {
  KernelObject kernel;
  kernel.params = {{.dtype = "f32", .elements = 100},
                   {.dtype = "f32", .elements = 250, .role = KernelParam::kConstant}};
  EXPECT_EQ(CopiesOfConstants(kernel, 0), 1);
  EXPECT_EQ(CopiesOfConstants(kernel, 10000), 10);
  EXPECT_EQ(CopiesOfConstants(kernel, int64_t{1} << 40), 1024);
  kernel.params.push_back({.dtype = "f32", .elements = 1250, .role = KernelParam::kPrepared});
  EXPECT_EQ(CopiesOfConstants(kernel, 10000), 2);
  kernel.params[1].role = kernel.params[2].role = KernelParam::kInput;
  EXPECT_EQ(CopiesOfConstants(kernel, 10000), 1);
}

TEST(Kernel, OfManyParametersNeedsATable) {
  RunRequest request = Table(kSum);
  request.kernel.takes_table = false;
  const RunResult result = RunOne(request);
  EXPECT_EQ(Name(result), "load_failed");
  EXPECT_EQ(result.detail, "100 parameters, but more than 64 need a function that takes a table");
}

TEST(Kernel, WithAFieldThatTheRunnerDoesNotKnowIsRefused) {
  RunRequest request = Request(kTwice);
  request.peers = {request.kernel};
  request.peers[0].fields = {{.tag = 3}};
  EXPECT_EQ(RunOne(request).detail, "peer 0: field 3 is unknown to this runner");
}

TEST(Runner, SaysThatARequestIsOfAnotherVersion) {
  WorkerProcess runner(RunnerPath(), {}, -1);
  std::string remark, unread;
  ASSERT_TRUE(runner.Start(&remark).ok());
  const auto answer = runner.Ask("kiln-run 1\n...", 10);
  ASSERT_EQ(answer.status, FrameStatus::kOk);
  EXPECT_THAT(answer.bytes, HasSubstr("the request is not \"kiln-run 3\": kiln and kiln-runner come from "
                                      "different builds"));
}

}  // namespace
}  // namespace kiln
