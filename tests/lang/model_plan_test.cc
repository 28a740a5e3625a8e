// Tests plans of models: calls stand in order, and buffers that are alive at the same time do not overlap in the arena.
#include <gmock/gmock.h>

#include <map>

#include "absl/strings/str_cat.h"
#include "lang/base/random.h"
#include "lang/graph/outline.h"
#include "lang/graph/simplify_model.h"
#include "lang/model/arena.h"
#include "lang/model/plan_calls.h"
#include "lang/model/plan_text.h"
#include "lang/program/builder.h"
#include "lang/reference/interpreter.h"
#include "lang/text/text.h"
#include "testing/random_model.h"
#include "validator/model/check_model_plan.h"

namespace kiln {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

constexpr DType kF32 = DType::kF32;
const IndexSum i = Builder::Iter(0), j = Builder::Iter(1), k = Builder::Iter(2);

TEST(Arena, GivesBytesToALaterLifetimeAgain) {
  const Arena arena = PlaceLifetimes({{100, 0, 1}, {100, 1, 2}, {100, 2, 3}});
  EXPECT_THAT(arena.offsets, ElementsAre(0, 128, 0));
  EXPECT_EQ(arena.bytes, 256);
}

TEST(Arena, OverlapsNothingThatIsAliveAndStaysNearTheLeast) {
  double excess = 0;
  for (uint64_t seed = 0; seed < 200; ++seed) {
    RandomDice dice(Engine({seed}));
    std::vector<Lifetime> lifetimes;
    for (int n = 0; n < 40; ++n) {
      const int first = static_cast<int>(dice.Below(30));
      lifetimes.push_back({1 + dice.Below(5000), first, first + static_cast<int>(dice.Below(4))});
    }
    const Arena arena = PlaceLifetimes(lifetimes);
    for (size_t a = 0; a < lifetimes.size(); ++a) {
      EXPECT_EQ(arena.offsets[a] % kModelAlignment, 0);
      EXPECT_LE(arena.offsets[a] + lifetimes[a].bytes, arena.bytes);
      for (size_t b = 0; b < a; ++b) {
        const bool meet = lifetimes[a].first <= lifetimes[b].last && lifetimes[b].first <= lifetimes[a].last;
        const bool apart = arena.offsets[a] + lifetimes[a].bytes <= arena.offsets[b] ||
                           arena.offsets[b] + lifetimes[b].bytes <= arena.offsets[a];
        EXPECT_TRUE(!meet || apart) << "seed " << seed << ": " << a << " and " << b;
      }
    }
    excess += static_cast<double>(arena.bytes) / static_cast<double>(MostAlive(lifetimes)) / 200;
  }
  EXPECT_LT(excess, 1.1);
}

// Places the buffers of an unrolled LSTM in no more bytes than are alive at once. Each of its 8 steps has two large
// arrays one after the other, a small array, and a small state that lives until the end of the next step.
TEST(Arena, FindsThePlacesOfAnUnrolledLoop) {
  std::vector<Lifetime> lifetimes;
  for (int step = 0; step < 8; ++step) {
    const int first = 3 * step;
    lifetimes.push_back({8192, first, first + 1});
    lifetimes.push_back({8192, first + 1, first + 2});
    lifetimes.push_back({2048, first + 2, first + 5});
    lifetimes.push_back({2048, first + 2, first + 3});
  }
  EXPECT_EQ(PlaceLifetimes(lifetimes).bytes, MostAlive(lifetimes));
}

// Returns the program h1 = x * w1, h2 = h1 * w2, y = h2 * w3 + h1.
Program Residual() {
  Builder b("net");
  Id at = b.Input("x", kF32, {8, 16}), first = kNone;
  for (const char* name : {"1", "2", "3"}) {
    const Id w = b.Constant(absl::StrCat("w", name), kF32, {16, 16}),
             h = b.Temporary(absl::StrCat("h", name), kF32, {8, 16});
    b.Reduce(absl::StrCat("dense", name), {{"i", 8}, {"j", 16}, {"k", 16, IterKind::kReduction}},
             Monoid::Kind::kSum, {h, {i, j}}, b.Mul(b.Load(at, {i, k}), b.Load(w, {k, j})));
    if (first == kNone) first = h;
    at = h;
  }
  const Id y = b.Output("y", kF32, {8, 16});
  b.Compute("add", {{"i", 8}, {"j", 16}}, {y, {i, j}}, b.Add(b.Load(at, {i, j}), b.Load(first, {i, j})));
  return b.Finish();
}

std::vector<std::string> NamesOf(const std::vector<Task>& tasks) {
  std::vector<std::string> names;
  for (const Task& task : tasks) names.push_back(task.program.name);
  return names;
}

TEST(PlanCalls, OrdersCallsAndKeepsWhatALaterCallReads) {
  const Program model = Residual();
  const std::vector<Task> tasks = ExtractTasks(model).value();
  const std::vector<TaskNeeds> needs(tasks.size(), {.workspaces = {100}});
  const ModelPlan plan = PlanCalls(model, tasks, needs).value();
  EXPECT_EQ(CallsText(model, plan, NamesOf(tasks)),
            "call 0: net_dense1(x, w1, h1) bytes 2048 workspace 100 at 512\n"
            "call 1: net_dense1(h1, w2, h2) bytes 2048 workspace 100 at 1024\n"
            "call 2: net_dense3(h2, w3, h1, y) bytes 2560 workspace 100 at 1024\n");
  EXPECT_THAT(MemoryText(model, plan), HasSubstr("arena 1152 bytes\n  0 .. 512  h1  calls 0 to 2\n"));
  EXPECT_THAT(MemoryText(model, plan), HasSubstr("weights 3072 bytes\n  0 .. 1024  w1\n"));
}

// Returns the program y = z * v, where z is x * transposed(w) with column j scaled by s[j]. Blocks of their own
// transpose w, and repeat s in each row.
Program WithWorkOnConstants() {
  Builder b("net");
  const Id x = b.Input("x", kF32, {8, 16}), w = b.Constant("w", kF32, {16, 16}),
           s = b.Constant("s", kF32, {16});
  const Id t = b.Temporary("t", kF32, {16, 16}), h = b.Temporary("h", kF32, {8, 16});
  const Id repeated = b.Temporary("repeated", kF32, {8, 16}), y = b.Output("y", kF32, {8, 16});
  const Id v = b.Input("v", kF32, {16, 16});
  b.Compute("transpose", {{"i", 16}, {"j", 16}}, {t, {i, j}}, b.Load(w, {j, i}));
  b.Reduce("dense", {{"i", 8}, {"j", 16}, {"k", 16, IterKind::kReduction}}, Monoid::Kind::kSum, {h, {i, j}},
           b.Mul(b.Load(x, {i, k}), b.Load(t, {k, j})));
  b.Compute("repeat", {{"i", 8}, {"j", 16}}, {repeated, {i, j}}, b.Load(s, {j}));
  const Id scaled = b.Temporary("scaled", kF32, {8, 16});
  b.Compute("scale", {{"i", 8}, {"j", 16}}, {scaled, {i, j}},
            b.Mul(b.Load(h, {i, j}), b.Load(repeated, {i, j})));
  b.Reduce("dense2", {{"i", 8}, {"j", 16}, {"k", 16, IterKind::kReduction}}, Monoid::Kind::kSum, {y, {i, j}},
           b.Mul(b.Load(scaled, {i, k}), b.Load(v, {k, j})));
  return b.Finish();
}

TEST(PlanCalls, WorkOnConstantsRunsOnceUnlessItOnlyRepeatsThem) {
  const Program model = WithWorkOnConstants();
  const std::vector<Task> tasks = ExtractAllTasks(model).value();
  const ModelPlan plan = PlanCalls(model, tasks, std::vector<TaskNeeds>(tasks.size())).value();
  EXPECT_EQ(CallsText(model, plan, NamesOf(tasks)),
            "prepare 0: net_transpose(w, t) bytes 2048\n"
            "call 1: net_dense(x, t, s, scaled) bytes 2112\n"
            "call 2: net_dense2(scaled, v, y) bytes 2048\n");
  EXPECT_THAT(ToString(tasks[0].program), HasSubstr("buffer t: f32[16, 16] constant"));
}

TEST(PlanCalls, WhatPrepareAloneReadsIsInItsScratchArea) {
  const Program model = WithWorkOnConstants();
  const std::vector<Task> tasks = ExtractAllTasks(model).value();
  std::vector<TaskNeeds> needs(tasks.size());
  needs[0] = {.prepared = {1024}, .read_by_prepare = {0, 1, 0, 0}};
  const ModelPlan plan = PlanCalls(model, tasks, needs).value();
  EXPECT_EQ(MemoryText(model, plan),
            "arena 512 bytes\n"
            "  0 .. 512  scaled  calls 1 to 2\n"
            "weights 1088 bytes\n"
            "  0 .. 1024  prepared for call 1\n"
            "  1024 .. 1088  s\n"
            "scratch of the prepare phase 1024 bytes\n"
            "  0 .. 1024  t  calls 0 to 1\n");
}

// Two calls of one task with the same constant, h = x * w and y = h * w, share the memory in which it is prepared.
TEST(PlanCalls, CallsOfOneTaskOnTheSameConstantShareWhatIsPrepared) {
  Builder b("net");
  const Id w = b.Constant("w", kF32, {16, 16});
  Id at = b.Input("x", kF32, {8, 16});
  for (const char* name : {"h", "y"}) {
    const Id to = b.Temporary(name, kF32, {8, 16});
    b.Reduce(absl::StrCat("dense_", name), {{"i", 8}, {"j", 16}, {"k", 16, IterKind::kReduction}},
             Monoid::Kind::kSum, {to, {i, j}}, b.Mul(b.Load(at, {i, k}), b.Load(w, {k, j})));
    at = to;
  }
  b.MakeOutput(at);
  const Program model = b.Finish();
  const std::vector<Task> tasks = ExtractAllTasks(model).value();
  ASSERT_EQ(tasks.size(), 1u);

  const ModelPlan plan =
      PlanCalls(model, tasks, std::vector<TaskNeeds>{{.prepared = {1024}, .read_by_prepare = {0, 1, 0}}})
          .value();

  EXPECT_EQ(plan.weights_bytes, 1024);
  EXPECT_EQ(plan.calls[0].prepared[0].offset, plan.calls[1].prepared[0].offset);
  EXPECT_TRUE(CheckModelPlan(model, plan).ok());
}

// Runs the calls of a model's plan one by one with the interpreter. Temporaries lie where the plan puts them, in memory
// that is filled with NaN first.
class PlanRun {
 public:
  PlanRun(const Program& model, const ModelPlan& plan, const std::vector<Task>& tasks)
      : model_(model), plan_(plan), tasks_(tasks), bytes_(model.buffers.size()) {
    areas_[Location::Area::kArena] = std::string(plan.arena_bytes, '\xff');
    areas_[Location::Area::kWeights] = std::string(plan.weights_bytes, '\xff');
    areas_[Location::Area::kScratch] = std::string(plan.scratch_bytes, '\xff');
  }

  // Runs the prepare calls and then all others. Returns the bytes of each result; empty if an assertion of a call
  // fails.
  std::vector<std::string> Run(const std::vector<std::string>& inputs) {
    size_t next = 0;
    for (const Id id : model_.parameters) {
      if (IsGiven(model_.buffers[id].role)) bytes_[id] = inputs[next++];
    }
    for (const bool prepares : {true, false}) {
      for (const ModelCall& call : plan_.calls) {
        if (call.prepares == prepares && !RunCall(call)) return {};
      }
      areas_[Location::Area::kScratch].assign(plan_.scratch_bytes, '\xff');
    }
    std::vector<std::string> results;
    for (const Id id : model_.parameters) {
      if (model_.buffers[id].role == Role::kOutput) results.push_back(bytes_[id]);
    }
    return results;
  }

 private:
  // Returns the memory area (arena, weights or scratch) that holds a temporary between calls; null for a parameter.
  std::string* AreaOf(Id buffer) {
    return model_.buffers[buffer].role == Role::kTemporary ? &areas_.at(plan_.buffers[buffer].area) : nullptr;
  }

  bool RunCall(const ModelCall& call) {
    const Program& task = tasks_[call.task].program;
    std::vector<std::string> inputs;
    for (size_t n = 0; n < call.buffers.size(); ++n) {
      if (task.buffers[task.parameters[n]].role == Role::kOutput) continue;
      const Location& at = plan_.buffers[call.buffers[n]];
      const std::string* area = AreaOf(call.buffers[n]);
      inputs.push_back(area != nullptr ? area->substr(at.offset, at.bytes) : bytes_[call.buffers[n]]);
    }
    for (const Location& at : call.workspaces)
      areas_[at.area].replace(at.offset, at.bytes, std::string(at.bytes, '\xff'));
    const auto results = kiln::Run(task, inputs);
    if (!results.ok()) return false;
    size_t next = 0;
    for (size_t n = 0; n < call.buffers.size(); ++n) {
      if (task.buffers[task.parameters[n]].role != Role::kOutput) continue;
      const std::string& bytes = (*results)[next++];
      if (std::string* area = AreaOf(call.buffers[n])) {
        area->replace(plan_.buffers[call.buffers[n]].offset, bytes.size(), bytes);
      } else {
        bytes_[call.buffers[n]] = bytes;
      }
    }
    return true;
  }

  const Program& model_;
  const ModelPlan& plan_;
  const std::vector<Task>& tasks_;
  std::map<Location::Area, std::string> areas_;
  std::vector<std::string> bytes_;  // by buffer: of parameters
};

TEST(PlanCalls, RandomModelsComputeInOneArenaWhatTheyCompute) {
  int several = 0, assertions = 0;
  for (uint64_t seed = 0; seed < 300; ++seed) {
    Program model = RandomModel(seed);
    if (seed % 2 == 1) SimplifyModel(model);
    const std::vector<Task> tasks = ExtractAllTasks(model).value();
    RandomDice dice(Engine({seed, 2}));
    std::vector<TaskNeeds> needs(tasks.size());
    for (TaskNeeds& need : needs) need.workspaces.assign(dice.Below(3), 1 + dice.Below(300));
    const ModelPlan plan = PlanCalls(model, tasks, needs).value();
    const std::vector<std::string> inputs = RandomModelInputs(model, seed);
    const auto wanted = kiln::Run(model, inputs);

    const std::vector<std::string> found = PlanRun(model, plan, tasks).Run(inputs);

    EXPECT_EQ(found, wanted.ok() ? *wanted : std::vector<std::string>()) << "seed " << seed << "\n"
                                                                         << ToString(model);
    several += plan.calls.size() > 2 ? 1 : 0;
    assertions += wanted.ok() ? 0 : 1;
  }
  EXPECT_GT(several, 150);
  EXPECT_GT(assertions, 5);
}

}  // namespace
}  // namespace kiln
