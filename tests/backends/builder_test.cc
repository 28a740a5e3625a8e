// Tests BuilderPool, which compiles programs in builder processes: outputs, errors, limits of time and memory, and that
// a crash of the compiler is only a failed build.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <fstream>
#include <future>
#include <iterator>

#include "absl/strings/match.h"
#include "backends/builder/pool.h"
#include "backends/lower/text/loop_plan_parse.h"
#include "lang/text/hash.h"
#include "testing/compiled/run_program.h"
#include "tests/backends/with_loops.h"
#include "tests/backends/workers.h"

namespace kiln {
namespace {

std::string ReadProc(pid_t process, const std::string& file) {
  std::ifstream in(absl::StrCat("/proc/", process, "/", file));
  return {std::istreambuf_iterator<char>(in), {}};
}

TEST(BuilderPool, MakesASharedObjectThatComputes) {
  const auto pool = StartBuilders();
  const BuildResult result = pool->Submit(RequestFor(Affine(100))).get();
  ASSERT_TRUE(result.ok()) << result.error;
  EXPECT_FALSE(result.has_prepare);
  const auto loaded = Loaded::FromBytes(result.outputs[0]);
  ASSERT_TRUE(loaded.ok()) << loaded.status();
  auto x = Random<float>(100, 1);
  Array<float> y(100);
  EXPECT_EQ(CallKernel(*loaded, "kernel", {x.data(), y.data()}), 0);
  for (int i = 0; i < 100; ++i) EXPECT_EQ(y[i], 2 * x[i] + 1);
}

TEST(BuilderPool, ShowsTheStagesOfABuild) {
  const auto pool = StartBuilders();
  BuildRequest request =
      RequestFor(Matmul(4, 8, 16), {BuildOutput::kProgram, BuildOutput::kMlir, BuildOutput::kLlvm,
                                    BuildOutput::kAssembly, BuildOutput::kObject, BuildOutput::kPlan});
  request.symbol = "tiny";
  request.print_after_all = true;
  const BuildResult result = pool->Submit(request).get();
  ASSERT_TRUE(result.ok()) << result.error;
  EXPECT_TRUE(absl::StartsWith(result.outputs[0], "kiln.program v1\nprogram tiny\n")) << result.outputs[0];
  EXPECT_TRUE(
      absl::StrContains(result.outputs[1], "func.func @tiny(%arg0: memref<64xf32>, %arg1: memref<128xf32>"));
  EXPECT_TRUE(absl::StrContains(result.outputs[2], "define i32 @tiny(ptr"));
  EXPECT_TRUE(absl::StrContains(result.outputs[3], "tiny:"));
  EXPECT_EQ(result.outputs[4].substr(1, 3), "ELF");
  const auto plan = plan::ParsePlan(result.outputs[5]);
  ASSERT_TRUE(plan.ok()) << plan.status();
  EXPECT_EQ(plan::Text(*plan), result.outputs[5]);
  EXPECT_TRUE(absl::StrContains(result.passes, "plan"));
}

TEST(BuilderPool, SaysWhatPrepareWrites) {
  const auto pool = StartBuilders();
  const BuildResult result = pool->Submit(RequestFor(WithPrepare(48))).get();
  ASSERT_TRUE(result.ok()) << result.error;
  EXPECT_TRUE(result.has_prepare);
  ASSERT_EQ(result.prepared.size(), 1);
  EXPECT_EQ(result.prepared[0].dtype, "f32");
  EXPECT_EQ(result.prepared[0].elements, 48);
}

TEST(BuilderPool, GivesResultsInTheOrderOfRequests) {
  const auto pool = StartBuilders(2);
  std::vector<BuildRequest> requests;
  for (int i = 0; i < 8; ++i) {
    requests.push_back(RequestFor(i % 2 == 0 ? Affine(10) : Matmul(16, 16, 16), {BuildOutput::kMlir}));
    requests.back().symbol = absl::StrCat("f", i);
  }
  const std::vector<BuildResult> results = pool->RunAll(requests);
  for (int i = 0; i < 8; ++i)
    EXPECT_TRUE(absl::StrContains(results[i].outputs.at(0), absl::StrCat("@f", i, "(")));
}

TEST(BuilderPool, KeepsResultsUnderTheirKeys) {
  const auto pool = StartBuilders();
  BuildRequest request = RequestFor(Affine(64));
  request.cache_key = ToString(HashOf(Affine(64)));
  const BuildResult first = pool->Submit(request).get();
  request.program = "nobody reads this";
  const BuildResult again = pool->Submit(request).get();
  EXPECT_TRUE(again.ok());
  EXPECT_EQ(again.outputs, first.outputs);
}

TEST(BuilderPool, SaysWhyAProgramCannotBeBuilt) {
  const auto pool = StartBuilders();
  const Program gpu = WithLoops(Affine(8), LoopKind::kThreadX);
  BuildRequest malformed = RequestFor(Affine(8));
  malformed.program.resize(malformed.program.size() / 2);
  BuildRequest machine = RequestFor(Affine(8));
  machine.triple = "z80-unknown-none";
  const auto results = pool->RunAll({RequestFor(gpu), malformed, machine});
  for (const BuildResult& result : results) EXPECT_EQ(result.status, BuildStatus::kBuildFailed);
  EXPECT_EQ(results[0].error, "loop i is thread-x, which a CPU does not have");
  EXPECT_TRUE(absl::StartsWith(results[1].error, "not a program: ")) << results[1].error;
  EXPECT_TRUE(absl::StrContains(results[2].error, "z80")) << results[2].error;
}

TEST(BuilderPool, SaysWhatPreventsABuilderFromStarting) {
  EXPECT_EQ(BuilderPool::Start({.builder_path = "/no/such/builder"}).status().message(),
            "cannot start /no/such/builder: No such file or directory");
}

TEST(BuilderPool, EndsWhatTakesTooLong) {
  const auto pool = StartBuilders();
  BuildRequest request = RequestFor(Huge());
  request.limits.seconds = 0.3;
  const auto results = pool->RunAll({request, RequestFor(Affine(8))});
  EXPECT_EQ(results[0].status, BuildStatus::kBuildFailed);
  EXPECT_EQ(results[0].error, "the compiler was not done after 0.3 s");
  EXPECT_TRUE(results[1].ok()) << results[1].error;
}

TEST(BuilderPool, EndsWhatNeedsTooMuchMemory) {
  const auto pool = StartBuilders();
  BuildRequest request = RequestFor(Huge());
  request.limits = {.seconds = 60, .bytes = 16 << 20};
  const auto results = pool->RunAll({request, RequestFor(Affine(8))});
  EXPECT_EQ(results[0].status, BuildStatus::kBuildFailed);
  EXPECT_EQ(results[0].error, "the compiler needed more than 16777216 bytes of memory");
  EXPECT_TRUE(results[1].ok()) << results[1].error;
}

TEST(BuilderPool, LimitsFilesToo) {
  const auto pool = StartBuilders();
  BuildRequest request = RequestFor(Affine(8));
  request.limits.bytes = 1 << 30;
  ASSERT_TRUE(pool->Submit(request).get().ok());
  const std::string limits = ReadProc(pool->builder_pids().front(), "limits");
  EXPECT_THAT(limits, testing::ContainsRegex("Max open files +256 "));
  EXPECT_THAT(limits, testing::ContainsRegex("Max file size +1073741824 "));
}

TEST(BuilderPool, ACrashOfTheCompilerIsAResult) {
  const auto pool = StartBuilders();
  const pid_t builder = pool->builder_pids().front();
  auto lost = pool->Submit(RequestFor(Huge()));
  auto next = pool->Submit(RequestFor(Affine(8)));
  AwaitWork(builder);
  kill(builder, SIGSEGV);
  EXPECT_EQ(lost.get().status, BuildStatus::kBuildFailed);
  EXPECT_TRUE(absl::StartsWith(lost.get().error, "the compiler crashed: kiln-builder was ended by SIGSEGV"))
      << lost.get().error;
  EXPECT_TRUE(next.get().ok()) << next.get().error;
  EXPECT_NE(pool->builder_pids().front(), builder);
}

TEST(BuilderPool, BuildsAgainWhatAKilledBuilderWasAt) {
  const auto pool = StartBuilders();
  const pid_t builder = pool->builder_pids().front();
  auto result = pool->Submit(RequestFor(Huge(1)));
  kill(builder, SIGKILL);
  EXPECT_TRUE(result.get().ok()) << result.get().error;
  EXPECT_FALSE(IsRunning(builder));
}

TEST(BuilderPool, InterruptEndsWhatIsBuiltAndWhatWaitsButNotWhatComes) {
  const auto pool = StartBuilders();
  auto running = pool->Submit(RequestFor(Huge()));
  auto waiting = pool->Submit(RequestFor(Affine(8)));
  AwaitWork(pool->builder_pids().front());
  pool->Interrupt();
  EXPECT_EQ(running.get().status, BuildStatus::kInterrupted);
  EXPECT_EQ(waiting.get().status, BuildStatus::kInterrupted);
  EXPECT_TRUE(pool->Submit(RequestFor(Affine(8))).get().ok());
}

TEST(BuilderPool, LeavesNothingRunningWhenItEnds) {
  auto pool = StartBuilders();
  const std::vector<pid_t> builders = pool->builder_pids();
  auto first = pool->Submit(RequestFor(Huge()));
  AwaitWork(builders[0], 0.05);
  pool.reset();
  for (const pid_t pid : builders) EXPECT_FALSE(IsRunning(pid));
  EXPECT_EQ(first.get().status, BuildStatus::kInterrupted);
}

TEST(BuilderPool, LeavesNothingRunningWhenItsProcessIsKilled) {
  int report[2];
  ASSERT_EQ(pipe(report), 0);
  const BuildRequest request = RequestFor(Huge());
  const pid_t client = fork();
  if (client == 0) {
    auto pool = StartBuilders();
    auto lost = pool->Submit(request);
    const pid_t builder = pool->builder_pids().front();
    AwaitWork(builder);
    static_cast<void>(!write(report[1], &builder, sizeof builder));
    for (;;) pause();
  }
  pid_t builder = 0;
  ASSERT_EQ(read(report[0], &builder, sizeof builder), static_cast<ssize_t>(sizeof builder));
  EXPECT_TRUE(IsRunning(builder));
  kill(client, SIGKILL);
  waitpid(client, nullptr, 0);
  EXPECT_TRUE(Soon([&] { return !IsRunning(builder); }));
  close(report[0]);
  close(report[1]);
}

}  // namespace
}  // namespace kiln
