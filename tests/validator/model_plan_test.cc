// Tests that CheckModelPlan accepts the plans that the planner makes, and that it finds each kind of fault in a plan.
#include <gmock/gmock.h>

#include <functional>

#include "absl/strings/str_cat.h"
#include "lang/base/random.h"
#include "lang/graph/outline.h"
#include "lang/graph/simplify_model.h"
#include "lang/model/plan_calls.h"
#include "lang/program/builder.h"
#include "testing/random_model.h"
#include "validator/model/check_model_plan.h"

namespace kiln {
namespace {

using ::testing::HasSubstr;
using Area = Location::Area;

constexpr DType kF32 = DType::kF32;
const IndexSum i = Builder::Iter(0), j = Builder::Iter(1), k = Builder::Iter(2);

TEST(CheckModelPlan, AcceptsPlansOfRandomModels) {
  for (uint64_t seed = 0; seed < 500; ++seed) {
    Program model = RandomModel(seed);
    if (seed % 2 == 1) SimplifyModel(model, Policies::Without(seed % 4 == 1 ? "" : "+channels-last").value());
    const std::vector<Task> tasks = ExtractAllTasks(model).value();
    RandomDice dice(Engine({seed, 2}));
    std::vector<TaskNeeds> needs(tasks.size());
    for (TaskNeeds& need : needs)
      need = {.prepared = {1 + dice.Below(100)}, .workspaces = {1 + dice.Below(300)}};
    const ModelPlan plan = PlanCalls(model, tasks, needs).value();
    const auto report = CheckModelPlan(model, plan);
    ASSERT_TRUE(report.ok()) << "seed " << seed << ": " << report.status();
    EXPECT_LE(report->bytes_alive, plan.arena_bytes);
  }
}

Id Dense(Builder& b, Id from, const std::string& name) {
  const Id w = b.Constant(absl::StrCat("w", name), kF32, {16, 16});
  const Id to = b.Temporary(absl::StrCat("h", name), kF32, {8, 16});
  b.Reduce(absl::StrCat("dense", name), {{"i", 8}, {"j", 16}, {"k", 16, IterKind::kReduction}},
           Monoid::Kind::kSum, {to, {i, j}}, b.Mul(b.Load(from, {i, k}), b.Load(w, {k, j})));
  return to;
}

// A model of four products, and its plan: h1 = x*w1, h2 = h1*w2, h3 = h2*w3, y = h3 + h1, z = h2*w4. The products with
// w1, w2 and w4 are one task, which prepares its weights.
struct Model {
  Program program;
  ModelPlan plan;
  Id x, h1, h2, h3, z, y, w3;
};

Model Planned() {
  Builder b("net");
  Model m;
  m.x = b.Input("x", kF32, {8, 16});
  m.h1 = Dense(b, m.x, "1");
  m.h2 = Dense(b, m.h1, "2");
  m.h3 = Dense(b, m.h2, "3");
  m.y = b.Output("y", kF32, {8, 16});
  b.Compute("add", {{"i", 8}, {"j", 16}}, {m.y, {i, j}}, b.Add(b.Load(m.h3, {i, j}), b.Load(m.h1, {i, j})));
  m.z = Dense(b, m.h2, "4");
  b.MakeOutput(m.z);
  m.program = b.Finish();
  for (Id id = 0; id < static_cast<Id>(m.program.buffers.size()); ++id) {
    if (m.program.Text(m.program.buffers[id].name) == "w3") m.w3 = id;
  }
  const std::vector<Task> tasks = ExtractAllTasks(m.program).value();
  std::vector<TaskNeeds> needs(tasks.size());
  for (TaskNeeds& need : needs) need.workspaces = {100};
  needs[0].prepared = {1024, 64};
  needs[0].read_by_prepare = {0, 1, 0};
  m.plan = PlanCalls(m.program, tasks, needs).value();
  return m;
}

struct Fault {
  std::string name, found;  // found: a part of the error
  std::function<void(Model&)> make;
};

std::vector<Fault> FaultsOfCalls() {
  const auto erase = [](auto& list, auto value) { list.erase(std::find(list.begin(), list.end(), value)); };
  return {
      {"a call is missing", "no call computes", [](Model& m) { m.plan.calls.pop_back(); }},
      {"the first call is missing", "no call computes",
       [](Model& m) { m.plan.calls.erase(m.plan.calls.begin()); }},
      {"a call runs twice", "is in calls", [](Model& m) { m.plan.calls.push_back(m.plan.calls[0]); }},
      {"a call lacks a block", "no call computes", [](Model& m) { m.plan.calls[2].blocks.pop_back(); }},
      {"a block is in two calls", "is in calls",
       [](Model& m) { m.plan.calls[1].blocks.push_back(m.plan.calls[0].blocks[0]); }},
      {"a block is no block", "is no block", [](Model& m) { m.plan.calls[1].blocks.push_back(0); }},
      {"a block is out of range", "is no block", [](Model& m) { m.plan.calls[1].blocks.push_back(100000); }},
      {"a block is negative", "is no block", [](Model& m) { m.plan.calls[1].blocks.push_back(-1); }},
      {"calls 0 and 1 are exchanged", "before it is written",
       [](Model& m) { std::swap(m.plan.calls[0], m.plan.calls[1]); }},
      {"calls 1 and 2 are exchanged", "before it is written",
       [](Model& m) { std::swap(m.plan.calls[1], m.plan.calls[2]); }},
      {"all calls are turned round", "before it is written",
       [](Model& m) { std::reverse(m.plan.calls.begin(), m.plan.calls.end()); }},
      {"calls exchange their blocks", "lacks",
       [](Model& m) { std::swap(m.plan.calls[0].blocks, m.plan.calls[1].blocks); }},
      {"a call lacks what it reads", "marks for", [&](Model& m) { erase(m.plan.calls[1].buffers, m.h1); }},
      {"a call lacks what it writes", "marks for", [&](Model& m) { erase(m.plan.calls[1].buffers, m.h2); }},
      {"a call reads another buffer", "lacks h2",
       [](Model& m) {
         std::replace(m.plan.calls[3].buffers.begin(), m.plan.calls[3].buffers.end(), m.h2, m.h1);
       }},
      {"a call writes another buffer", "lacks h1",
       [](Model& m) {
         std::replace(m.plan.calls[0].buffers.begin(), m.plan.calls[0].buffers.end(), m.h1, m.h2);
       }},
      {"a call lists a buffer twice", "lists a buffer twice",
       [](Model& m) {
         m.plan.calls[0].buffers.push_back(m.x), m.plan.calls[0].read_by_prepare.push_back(0);
       }},
      {"a call takes a buffer that it does not use", "does not use h1",
       [](Model& m) {
         m.plan.calls[3].buffers.push_back(m.h1), m.plan.calls[3].read_by_prepare.push_back(0);
       }},
  };
}

std::vector<Fault> FaultsOfMemory() {
  return {
      {"a call runs in the prepare phase", "in the wrong area",
       [](Model& m) { m.plan.calls[1].prepares = true, m.plan.calls[1].workspaces = {}; }},
      {"h1 and h2 share memory", "overlap",
       [](Model& m) { m.plan.buffers[m.h2].offset = m.plan.buffers[m.h1].offset; }},
      {"h2 lies half in h1", "overlap",
       [](Model& m) { m.plan.buffers[m.h2].offset = m.plan.buffers[m.h1].offset + 256; }},
      {"a workspace lies in what its call reads", "overlap",
       [](Model& m) { m.plan.calls[1].workspaces[0].offset = m.plan.buffers[m.h1].offset; }},
      {"a workspace lies in what its call writes", "overlap",
       [](Model& m) { m.plan.calls[0].workspaces[0].offset = m.plan.buffers[m.h1].offset; }},
      {"a workspace lies in the weights", "is not in the arena",
       [](Model& m) { m.plan.calls[0].workspaces[0].area = Area::kWeights; }},
      {"the arena is too small", "lies at", [](Model& m) { m.plan.arena_bytes -= 64; }},
      {"the arena is empty", "lies at", [](Model& m) { m.plan.arena_bytes = 0; }},
      {"a buffer lies before the arena", "lies at", [](Model& m) { m.plan.buffers[m.h1].offset = -64; }},
      {"a buffer lies behind the arena", "lies at",
       [](Model& m) { m.plan.buffers[m.h1].offset = m.plan.arena_bytes; }},
      {"a buffer is not aligned", "not aligned",
       [](Model& m) { m.plan.buffers[m.h1].offset += 4, m.plan.arena_bytes += 64; }},
      {"a buffer is too short", "wanted 512", [](Model& m) { m.plan.buffers[m.h1].bytes = 64; }},
      {"a buffer has no place", "has no place", [](Model& m) { m.plan.buffers[m.h1] = {}; }},
      {"a result has no place", "has no place", [](Model& m) { m.plan.buffers[m.y] = {}; }},
      {"an input has no place", "has no place", [](Model& m) { m.plan.buffers[m.x] = {}; }},
      {"a temporary is a parameter", "is not parameter",
       [](Model& m) { m.plan.buffers[m.h1] = {Area::kParameter, 0, 512}; }},
      {"a result is another parameter", "is not parameter", [](Model& m) { ++m.plan.buffers[m.y].offset; }},
      {"a result lies in the arena", "wrong area",
       [](Model& m) { m.plan.buffers[m.y] = {Area::kArena, 0, 512}; }},
      {"a temporary lies in the weights", "wrong area",
       [](Model& m) { m.plan.buffers[m.h1] = {Area::kWeights, 0, 512}; }},
      {"a constant lies in the arena", "wrong area",
       [](Model& m) { m.plan.buffers[m.w3].area = Area::kArena; }},
      {"a constant is not in the weights", "not in the weights", [](Model& m) { m.plan.buffers[m.w3] = {}; }},
      {"two prepared arrays of a call share memory", "overlap",
       [](Model& m) { m.plan.calls[0].prepared[1].offset = m.plan.calls[0].prepared[0].offset; }},
      {"what two calls prepare shares memory", "overlap",
       [](Model& m) { m.plan.calls[1].prepared[0].offset = m.plan.calls[0].prepared[0].offset; }},
      {"what is prepared lies in a constant", "overlap",
       [](Model& m) { m.plan.calls[0].prepared[1].offset = m.plan.buffers[m.w3].offset; }},
      {"what is prepared lies in the arena", "is not in the weights",
       [](Model& m) { m.plan.calls[0].prepared[0].area = Area::kArena; }},
      {"the weights are too small", "lies at", [](Model& m) { m.plan.weights_bytes -= 64; }},
      {"an input is left to the prepare phase", "and it is no constant",
       [](Model& m) { m.plan.calls[1].read_by_prepare[0] = 1; }},
      {"a prepared constant is read at run time", "not in the weights",
       [](Model& m) { m.plan.calls[0].read_by_prepare[1] = 0; }},
      {"the plan is of another model", "of another model", [](Model& m) { m.plan.buffers.pop_back(); }},
  };
}

TEST(CheckModelPlan, FindsEachFault) {
  ASSERT_TRUE(CheckModelPlan(Planned().program, Planned().plan).ok());
  std::vector<Fault> faults = FaultsOfCalls();
  for (Fault& fault : FaultsOfMemory()) faults.push_back(std::move(fault));
  EXPECT_GE(faults.size(), 40);
  for (const Fault& fault : faults) {
    Model model = Planned();
    fault.make(model);
    const auto report = CheckModelPlan(model.program, model.plan);
    EXPECT_EQ(report.status().code(), absl::StatusCode::kInternal) << fault.name;
    EXPECT_THAT(std::string(report.status().message()), HasSubstr(fault.found)) << fault.name;
  }
}

TEST(CheckModelPlan, FindsABufferThatIsOverwrittenBeforeItsLastReader) {
  Model m = Planned();
  m.plan.arena_bytes = 4096;
  m.plan.buffers[m.h1].offset = 0;
  m.plan.buffers[m.h2].offset = 512;
  for (size_t c = 0; c < m.plan.calls.size(); ++c) m.plan.calls[c].workspaces[0].offset = 1024;
  ASSERT_TRUE(CheckModelPlan(m.program, m.plan).ok());
  m.plan.calls[m.plan.calls.size() - 1].workspaces[0].offset = 0;
  std::swap(m.plan.calls[2], m.plan.calls[3]);
  EXPECT_THAT(std::string(CheckModelPlan(m.program, m.plan).status().message()),
              HasSubstr("h1, which is overwritten"));
}

TEST(CheckModelPlan, CountsTheBytesThatAreAliveItself) {
  const Model m = Planned();
  // The most bytes are alive in call 1: h1, h2 and a workspace.
  EXPECT_EQ(CheckModelPlan(m.program, m.plan)->bytes_alive, 512 + 512 + 100);
}

}  // namespace
}  // namespace kiln
