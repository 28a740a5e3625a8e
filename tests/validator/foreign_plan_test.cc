// Tests plans of models with foreign calls: tasks end at such calls, the text of a plan names them, and CheckModelPlan
// finds faults in them.
#include <gmock/gmock.h>

#include <functional>

#include "lang/graph/outline.h"
#include "lang/model/plan_calls.h"
#include "lang/model/plan_text.h"
#include "lang/program/builder.h"
#include "validator/model/check_model_plan.h"

namespace kiln {
namespace {

using ::testing::HasSubstr;

constexpr DType kF32 = DType::kF32;
const IndexSum i = Builder::Iter(0);

struct Model {
  Program program;
  std::vector<ForeignCall> foreign;
  std::vector<Task> tasks;
  ModelPlan plan;
  Id x, a, f, y;
};

// Returns the model a = 2 * x; f = sort(a), which is foreign; y = a + f.
Model Sorted() {
  Builder b("net");
  Model m;
  m.x = b.Input("x", kF32, {64});
  m.a = b.Temporary("a", kF32, {64});
  b.Compute("double", {{"i", 64}}, {m.a, {i}}, b.Mul(b.Float(kF32, 2), b.Load(m.x, {i})));
  m.f = b.Input("f", kF32, {64});
  m.y = b.Output("y", kF32, {64});
  b.Compute("add", {{"i", 64}}, {m.y, {i}}, b.Add(b.Load(m.a, {i}), b.Load(m.f, {i})));
  m.program = b.Finish();
  m.program.buffers[m.f].role = Role::kTemporary;
  std::erase(m.program.parameters, m.f);
  m.foreign = {{.name = "sort", .reads = {m.a}, .writes = {m.f}}};
  m.tasks = ExtractAllTasks(m.program, {}, {}, m.foreign).value();
  std::vector<TaskNeeds> needs(m.tasks.size() + 1);
  needs.back().workspaces = {256};
  m.plan = PlanCalls(m.program, m.tasks, needs, m.foreign).value();
  return m;
}

TEST(ForeignPlan, NoTaskHoldsBlocksBeforeAndAfterACall) {
  const Model m = Sorted();
  ASSERT_EQ(m.tasks.size(), 2u);  // without the call it would be one
  EXPECT_EQ(CallsText(m.program, m.plan, std::vector<std::string>{"double", "add", "sort"}),
            "call 0: double(x, a) bytes 512\n"
            "call 1: foreign sort(a, f) bytes 512 workspace 256 at 512\n"
            "call 2: add(a, f, y) bytes 768\n");
  const auto checked = CheckModelPlan(m.program, m.plan, m.foreign);
  ASSERT_TRUE(checked.ok()) << checked.status();
  EXPECT_EQ(checked->bytes_alive, 768);
}

TEST(ForeignPlan, WhatOnlyACallReadsIsKept) {
  Builder b("net");
  const Id x = b.Input("x", kF32, {64}), a = b.Temporary("a", kF32, {64});
  b.Compute("double", {{"i", 64}}, {a, {i}}, b.Mul(b.Float(kF32, 2), b.Load(x, {i})));
  const Id y = b.Output("y", kF32, {64});
  b.Compute("copy", {{"i", 64}}, {y, {i}}, b.Load(x, {i}));
  Program program = b.Finish();
  const Id f = program.AddBuffer("f", kF32, std::vector<Extent>{64}, Role::kTemporary);
  const std::vector<ForeignCall> foreign = {{.name = "sort", .reads = {a}, .writes = {f}}};
  const std::vector<Task> tasks = ExtractAllTasks(program, {}, {}, foreign).value();
  const ModelPlan plan = PlanCalls(program, tasks, std::vector<TaskNeeds>(tasks.size() + 1), foreign).value();
  EXPECT_TRUE(CheckModelPlan(program, plan, foreign).ok()) << CheckModelPlan(program, plan, foreign).status();
}

struct Fault {
  std::string found;  // a part of the error
  std::function<void(Model&)> make;
};

TEST(ForeignPlan, TheCheckFindsFaults) {
  const Fault faults[] = {
      {"no call runs the foreign sort", [](Model& m) { m.plan.calls.erase(m.plan.calls.begin() + 1); }},
      {"are one foreign call", [](Model& m) { m.plan.calls.push_back(m.plan.calls[1]); }},
      {"names foreign call 7", [](Model& m) { m.plan.calls[1].foreign = 7; }},
      {"takes other buffers than sort",
       [](Model& m) { std::swap(m.plan.calls[1].buffers[0], m.plan.calls[1].buffers[1]); }},
      {"takes other buffers than sort", [](Model& m) { m.plan.calls[1].buffers = {m.x, m.f}; }},
      {"is foreign, and is a task too", [](Model& m) { m.plan.calls[1].prepares = true; }},
      {"before it is written", [](Model& m) { std::swap(m.plan.calls[0], m.plan.calls[1]); }},
      {"before it is written", [](Model& m) { std::swap(m.plan.calls[1], m.plan.calls[2]); }},
      {"overlap", [](Model& m) { m.plan.buffers[m.f].offset = m.plan.buffers[m.a].offset; }},
      {"overlap", [](Model& m) { m.plan.calls[1].workspaces[0].offset = m.plan.buffers[m.a].offset; }},
      {"lies at", [](Model& m) { m.plan.calls[1].workspaces[0].offset = m.plan.arena_bytes; }},
  };
  for (const Fault& fault : faults) {
    Model m = Sorted();
    fault.make(m);
    EXPECT_THAT(std::string(CheckModelPlan(m.program, m.plan, m.foreign).status().message()),
                HasSubstr(fault.found));
  }
}

}  // namespace
}  // namespace kiln
