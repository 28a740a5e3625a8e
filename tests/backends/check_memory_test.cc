// Tests CheckMemory, which runs the library of a model and again each of its calls with every array in pages of its
// own, and names the call that reads or overwrites memory of others.
#include <gmock/gmock.h>

#include <functional>

#include "absl/strings/str_cat.h"
#include "backends/model/check_memory.h"
#include "lang/graph/outline.h"
#include "lang/program/builder.h"
#include "lang/reference/interpreter.h"
#include "testing/random_model.h"
#include "tests/backends/workers.h"

namespace kiln {
namespace {

using ::testing::HasSubstr;

constexpr DType kF32 = DType::kF32;
const IndexSum i = Builder::Iter(0), j = Builder::Iter(1), k = Builder::Iter(2);

Id Dense(Builder& b, Id from, const std::string& name) {
  const Id w = b.Constant(absl::StrCat("w", name), kF32, {16, 16});
  const Id to = b.Temporary(absl::StrCat("h", name), kF32, {8, 16});
  b.Reduce(absl::StrCat("dense", name), {{"i", 8}, {"j", 16}, {"k", 16, IterKind::kReduction}},
           Monoid::Kind::kSum, {to, {i, j}}, b.Mul(b.Load(from, {i, k}), b.Load(w, {k, j})));
  return to;
}

// Returns the program h1 = x * w1, h2 = h1 * w2, y = h2 * w3 + h1.
Program Residual() {
  Builder b("net");
  const Id h1 = Dense(b, b.Input("x", kF32, {8, 16}), "1");
  const Id h3 = Dense(b, Dense(b, h1, "2"), "3");
  const Id y = b.Temporary("y", kF32, {8, 16});
  b.Compute("add", {{"i", 8}, {"j", 16}}, {y, {i, j}}, b.Add(b.Load(h3, {i, j}), b.Load(h1, {i, j})));
  b.MakeOutput(y);
  return b.Finish();
}

Id BufferOf(const Program& p, absl::string_view name) {
  for (Id b = 0; b < std::ssize(p.buffers); ++b) {
    if (p.Text(p.buffers[b].name) == name) return b;
  }
  return kNone;
}

using Change = std::function<void(const Program&, std::vector<ScheduledTask>&, ModelPlan&)>;
const Change kNothing = [](const Program&, std::vector<ScheduledTask>&, ModelPlan&) {};

absl::StatusOr<CheckedRun> Checked(const Program& model, const std::vector<std::string>& inputs,
                                   const Change& change_tasks = kNothing,
                                   const Change& change_plan = kNothing) {
  static auto* const builders = StartBuilders().release();
  const std::vector<Task> tasks = ExtractAllTasks(model).value();
  std::vector<ScheduledTask> scheduled;
  std::vector<std::string> names;
  for (const Task& task : tasks) {
    scheduled.push_back({.program = task.program});
    names.push_back(task.program.name);
  }
  ModelPlan plan;
  change_tasks(model, scheduled, plan);
  const TaskObjects code = CompileTasks(scheduled, "net", *builders).value();
  plan = PlanCalls(model, tasks, code.needs).value();
  change_plan(model, scheduled, plan);
  const std::string library = LinkModel(model, plan, code, "net", *builders).value().shared_object;
  const std::vector<absl::string_view> given(inputs.begin(), inputs.end());
  return CheckMemory({model, plan, code, "net", names, given}, library, *builders);
}

TEST(CheckMemory, TheResultsAreTheSameWhereverArraysLie) {
  for (uint64_t seed = 0; seed < 12; ++seed) {
    const Program model = RandomModel(seed);
    const std::vector<std::string> inputs = RandomModelInputs(model, seed);
    const auto wanted = kiln::Run(model, inputs);

    const auto run = Checked(model, inputs);

    ASSERT_TRUE(run.ok()) << "seed " << seed << ": " << run.status();
    EXPECT_EQ(run->status, wanted.ok() ? 0 : 1);
    if (wanted.ok()) EXPECT_EQ(run->results, *wanted) << "seed " << seed;
  }
}

TEST(CheckMemory, NamesTheCallThatOverwritesWhatALaterOneReads) {
  const Program model = Residual();
  const auto run =
      Checked(model, RandomModelInputs(model, 1), kNothing, [](const Program& p, auto&, ModelPlan& plan) {
        plan.buffers[BufferOf(p, "h2")].offset = plan.buffers[BufferOf(p, "h1")].offset;
      });
  EXPECT_EQ(run.status().code(), absl::StatusCode::kInternal);
  EXPECT_THAT(std::string(run.status().message()),
              HasSubstr("call 2 (net_dense3) leaves another y in the arena than in memory of its own"));
}

TEST(CheckMemory, NamesTheCallThatReadsBesideItsArrays) {
  const Program model = Residual();
  // Replaces the last task by a program that reads twelve rows of h2, an array of eight rows.
  const auto more_rows = [](const Program&, std::vector<ScheduledTask>& tasks, ModelPlan&) {
    ASSERT_EQ(tasks.size(), 2u);
    Builder b("larger");
    const Id h2 = b.Input("h2", kF32, {12, 16}), w = b.Constant("w", kF32, {16, 16});
    const Id h1 = b.Input("h1", kF32, {8, 16}), y = b.Output("y", kF32, {8, 16});
    b.Reduce("sum", {{"i", 8}, {"j", 16}, {"k", 12, IterKind::kReduction}}, Monoid::Kind::kSum, {y, {i, j}},
             b.Mul(b.Load(h2, {k, j}), b.Mul(b.Load(w, {i, j}), b.Load(h1, {i, j}))));
    tasks[1].program = b.Finish();
  };
  const auto run = Checked(model, RandomModelInputs(model, 1), more_rows);
  EXPECT_EQ(run.status().code(), absl::StatusCode::kInternal) << run.status();
  EXPECT_THAT(std::string(run.status().message()),
              HasSubstr("call 2 (net_dense3) touches memory outside its arrays: Segmentation fault"));
}

}  // namespace
}  // namespace kiln
