// Tests libraries of whole models: results equal the interpreter's, temporaries are in the caller's arena, two callers
// can run at once, and a task that cannot be built is named.
#include <gmock/gmock.h>

#include <thread>

#include "absl/strings/str_cat.h"
#include "backends/codegen/archive.h"
#include "lang/graph/simplify_model.h"
#include "lang/program/builder.h"
#include "lang/reference/interpreter.h"
#include "lang/text/text.h"
#include "testing/random_model.h"
#include "tests/backends/built_model.h"
#include "tests/backends/workers.h"

namespace kiln {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

BuilderPool& Builders() {
  static auto* const pool = StartBuilders(2).release();
  return *pool;
}

struct Result {
  int status = 0;
  std::vector<std::string> outputs;
};

// Allocates guarded memory for the model, prepares its weights, and runs it once. Expects that nothing is written
// outside its arrays. Returns its status and its outputs.
Result RunOnce(const BuiltModel& built, const std::vector<std::string>& inputs) {
  ModelMemory memory(built, inputs);
  EXPECT_EQ(memory.Prepare(), 0);
  const int status = memory.Run();
  EXPECT_TRUE(memory.IsWhole());
  return {status, memory.Outputs()};
}

TEST(Model, RandomModelsComputeWhatTheInterpreterComputes) {
  for (uint64_t seed = 0; seed < 60; ++seed) {
    Program model = RandomModel(seed);
    if (seed % 2 == 1) SimplifyModel(model, Policies::Without(seed % 4 == 1 ? "" : "+channels-last").value());
    const auto built = BuildModel(model, Builders());
    ASSERT_TRUE(built.ok()) << "seed " << seed << ": " << built.status();
    const std::vector<std::string> inputs = RandomModelInputs(built->model, seed);
    const auto wanted = kiln::Run(built->model, inputs);

    const Result found = RunOnce(*built, inputs);

    EXPECT_EQ(found.status, wanted.ok() ? 0 : 1) << "seed " << seed;
    if (wanted.ok()) EXPECT_EQ(found.outputs, *wanted) << "seed " << seed << "\n" << ToString(built->model);
  }
}

TEST(Model, TwoCallersAtOnceNeedTwoArenasAndOneSetOfWeights) {
  const auto built = BuildModel(RandomModel(7), Builders()).value();
  const std::vector<std::string> inputs = RandomModelInputs(built.model, 7);
  const Result wanted = RunOnce(built, inputs);
  std::vector<std::thread> callers;
  std::vector<int> wrong(2);
  for (int caller = 0; caller < 2; ++caller) {
    callers.emplace_back([&, caller] {
      for (int n = 0; n < 200; ++n) wrong[caller] += RunOnce(built, inputs).outputs == wanted.outputs ? 0 : 1;
    });
  }
  for (std::thread& caller : callers) caller.join();
  EXPECT_EQ(wrong, std::vector<int>(2));
}

// Returns the model y = relu(relu(x * w1) * w2) of two matrix products. The first product and its relu give arrays of 2
// MiB each.
Program WithLargeTemporaries() {
  constexpr DType kF32 = DType::kF32;
  const IndexSum i = Builder::Iter(0), j = Builder::Iter(1), k = Builder::Iter(2);
  Builder b("net");
  Id at = b.Input("x", kF32, {512, 4});
  for (const char* name : {"1", "2"}) {
    const int64_t columns = std::string(name) == "1" ? 1024 : 4, depth = std::string(name) == "1" ? 4 : 1024;
    const Id w = b.Constant(absl::StrCat("w", name), kF32, {depth, columns});
    const Id sums = b.Temporary(absl::StrCat("sums", name), kF32, {512, columns});
    const Id out = b.Temporary(absl::StrCat("h", name), kF32, {512, columns});
    b.Reduce(absl::StrCat("dense", name), {{"i", 512}, {"j", columns}, {"k", depth, IterKind::kReduction}},
             Monoid::Kind::kSum, {sums, {i, j}}, b.Mul(b.Load(at, {i, k}), b.Load(w, {k, j})));
    b.Compute(absl::StrCat("relu", name), {{"i", 512}, {"j", columns}}, {out, {i, j}},
              b.Make(Op::kMax, kF32, b.Load(sums, {i, j}), b.Float(kF32, 0)));
    at = out;
  }
  b.MakeOutput(at);
  return b.Finish();
}

TEST(Model, TakesTheMemoryOfItsTemporariesFromTheArena) {
  const Program model = WithLargeTemporaries();
  const std::vector<Task> tasks = ExtractTasks(model).value();
  std::vector<ScheduledTask> scheduled;
  for (const Task& task : tasks) scheduled.push_back({.program = task.program});
  const TaskObjects code = CompileTasks(scheduled, "net", Builders()).value();
  for (const std::string& object : code.objects) EXPECT_THAT(object, Not(HasSubstr("malloc")));

  const BuiltModel built = BuildModel(model, Builders()).value();

  // The arena holds both arrays of 2 MiB that the first call needs at the same time.
  EXPECT_GE(built.plan.arena_bytes, 2 * 512 * 1024 * 4);
  const std::vector<std::string> inputs = RandomModelInputs(model, 1);
  EXPECT_EQ(RunOnce(built, inputs).outputs, kiln::Run(model, inputs).value());
}

TEST(Model, ATaskThatCannotBeBuiltIsNamed) {
  const Program model = RandomModel(1);
  std::vector<ScheduledTask> tasks = {{.program = ExtractTasks(model).value()[0].program}};
  ModelBuildOptions options;
  options.limits.seconds = 1e-6;
  const auto code = CompileTasks(tasks, "net", Builders(), options);
  EXPECT_EQ(code.status().code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_THAT(std::string(code.status().message()), HasSubstr("cannot build task " + tasks[0].program.name));
}

TEST(Archive, RefusesWhatIsNoObject) {
  EXPECT_THAT(std::string(Archive({{"a.o",
                                    "\x7f"
                                    "ELFbut not really"}})
                              .status()
                              .message()),
              HasSubstr("no archive: "));
}

}  // namespace
}  // namespace kiln
