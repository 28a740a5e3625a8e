// Tests that CheckModelPlan accepts plans of models with views and slices, and that it finds faults in them.
#include <gmock/gmock.h>

#include <functional>

#include "absl/strings/str_cat.h"
#include "lang/graph/outline.h"
#include "lang/graph/views.h"
#include "lang/model/plan_calls.h"
#include "lang/program/builder.h"
#include "validator/model/check_model_plan.h"

namespace kiln {
namespace {

using ::testing::HasSubstr;

constexpr DType kF32 = DType::kF32;
const IndexSum i = Builder::Iter(0), j = Builder::Iter(1), k = Builder::Iter(2);

// A model and its plan, in which buffers `a` and `b` lie in the buffer `both`, for instance a = x*w0, b = x*w1, both =
// a over b, y = both*w2. All three are in the arena.
struct Model {
  Program program;
  ModelPlan plan;
  Id a, b, both;
};

Id Dense(Builder& b, Id from, int64_t rows, const std::string& name) {
  const Id w = b.Constant(absl::StrCat("w", name), kF32, {16, 16});
  const Id to = b.Temporary(absl::StrCat("h", name), kF32, {rows, 16});
  b.Reduce(absl::StrCat("dense", name), {{"i", rows}, {"j", 16}, {"k", 16, IterKind::kReduction}},
           Monoid::Kind::kSum, {to, {i, j}}, b.Mul(b.Load(from, {i, k}), b.Load(w, {k, j})));
  return to;
}

// Finishes the program, expects that MarkViews finds two views in it, and plans its calls.
void Plan(Builder& b, Model& m) {
  m.program = b.Finish();
  EXPECT_EQ(MarkViews(m.program, kModelAlignment), 2);
  const std::vector<Task> tasks = ExtractAllTasks(m.program).value();
  m.plan = PlanCalls(m.program, tasks, std::vector<TaskNeeds>(tasks.size())).value();
}

Model Planned() {
  Builder b("net");
  Model m;
  const Id x = b.Input("x", kF32, {8, 16});
  m.a = Dense(b, x, 8, "0");
  m.b = Dense(b, x, 8, "1");
  m.both = b.Temporary("both", kF32, {16, 16});
  for (const Id part : {m.a, m.b}) {
    b.Compute("put", {{"i", 8}, {"j", 16}}, {m.both, {i + IndexSum::Constant(part == m.a ? 0 : 8), j}},
              b.Load(part, {i, j}));
  }
  b.MakeOutput(Dense(b, m.both, 16, "2"));
  Plan(b, m);
  return m;
}

// Expects that CheckModelPlan accepts the plan, and that no call copies parts: there are 3 calls, and 1024 bytes alive.
void ExpectRight(const Model& m) {
  const auto report = CheckModelPlan(m.program, m.plan);
  ASSERT_TRUE(report.ok()) << report.status();
  EXPECT_EQ(report->bytes_alive, 1024);  // no copy of the parts
  EXPECT_EQ(m.plan.calls.size(), 3);
}

TEST(CheckModelPlan, AcceptsViews) { ExpectRight(Planned()); }

struct Fault {
  std::string name, found;  // found: a part of the error
  std::function<void(Model&)> make;
};

void ExpectFound(const Model& right, const std::vector<Fault>& faults) {
  for (const Fault& fault : faults) {
    Model m = right;
    fault.make(m);
    const auto report = CheckModelPlan(m.program, m.plan);
    EXPECT_FALSE(report.ok()) << fault.name;
    EXPECT_THAT(std::string(report.status().message()), HasSubstr(fault.found)) << fault.name;
  }
}

TEST(CheckModelPlan, FindsFaultsOfViews) {
  const std::vector<Fault> faults = {
      {"a view is missing", "no call computes", [](Model& m) { m.plan.views.pop_back(); }},
      {"a view is there twice", "is no block without a call",
       [](Model& m) { m.plan.views.push_back(m.plan.views[0]); }},
      {"a view stands for a block of a call", "is no block without a call",
       [](Model& m) { m.plan.views[0].copy = m.plan.calls[0].blocks[0]; }},
      {"views exchange their parts", "is no copy in order",
       [](Model& m) { std::swap(m.plan.views[0].part, m.plan.views[1].part); }},
      {"a view has another offset", "is no copy in order", [](Model& m) { m.plan.views[1].offset = 0; }},
      {"two views write the same bytes", "two views write both at 0",
       [](Model& m) {
         Program& p = m.program;
         p.accesses[p.block(m.plan.views[1].copy).dests.begin] =
             p.Accesses(p.block(m.plan.views[0].copy).dests)[0];
         m.plan.views[1].offset = 0;
         m.plan.buffers[m.b].offset = m.plan.buffers[m.both].offset;
       }},
      {"a part lies elsewhere", "lies elsewhere", [](Model& m) { m.plan.buffers[m.a].offset = 512; }},
      {"the whole lies elsewhere", "lies elsewhere",
       [](Model& m) { m.plan.buffers[m.both].offset = 64, m.plan.arena_bytes += 64; }},
      {"a part has no place", "lies elsewhere", [](Model& m) { m.plan.buffers[m.b] = {}; }},
      {"the reader of the whole runs before a part is written", "before it is written",
       [](Model& m) { std::swap(m.plan.calls[1], m.plan.calls[2]); }},
      {"a workspace lies in a part that is written before", "is overwritten",
       [](Model& m) { m.plan.calls[1].workspaces.push_back({Location::Area::kArena, 0, 64}); }},
  };
  ExpectFound(Planned(), faults);
}

// Returns the model a = x*w0, b = x*w1, y[i] = Σ_j both[16 i + j], planned. The elements of a and then of b, 8 x 16
// each, are put into `both`, which has one dimension.
Model PlannedRow() {
  Builder b("net");
  Model m;
  const Id x = b.Input("x", kF32, {8, 16});
  m.a = Dense(b, x, 8, "0");
  m.b = Dense(b, x, 8, "1");
  m.both = b.Temporary("both", kF32, {256});
  const IndexSum row{0, {{Source::Iter(0), 1, 16, 0}}}, column{0, {{Source::Iter(0), 1, 1, 16}}};
  for (const Id part : {m.a, m.b}) {
    b.Compute("put", {{"e", 128}}, {m.both, {i + IndexSum::Constant(part == m.a ? 0 : 128)}},
              b.Load(part, {row, column}));
  }
  const Id y = b.Output("y", kF32, {16});
  b.Reduce("sum", {{"i", 16}, {"j", 16, IterKind::kReduction}}, Monoid::Kind::kSum, {y, {i}},
           b.Load(m.both, {i * 16 + j}));
  Plan(b, m);
  return m;
}

TEST(CheckModelPlan, AcceptsViewsOfOtherShapes) { ExpectRight(PlannedRow()); }

// Returns the model all = x*w0, its halves a and b, y = a*w1 and z = b*w2, planned.
Model PlannedSlices() {
  Builder b("net");
  Model m;
  const Id x = b.Input("x", kF32, {16, 16});
  m.both = Dense(b, x, 16, "0");
  for (const int64_t first : {0, 8}) {
    Id& part = first == 0 ? m.a : m.b;
    part = b.Temporary(first == 0 ? "a" : "b", kF32, {8, 16});
    b.Compute("take", {{"i", 8}, {"j", 16}}, {part, {i, j}},
              b.Load(m.both, {i + IndexSum::Constant(first), j}));
  }
  b.MakeOutput(Dense(b, m.a, 8, "1"));
  b.MakeOutput(Dense(b, m.b, 8, "2"));
  Plan(b, m);
  return m;
}

TEST(CheckModelPlan, AcceptsSlices) { ExpectRight(PlannedSlices()); }

TEST(CheckModelPlan, FindsFaultsOfSlices) {
  const std::vector<Fault> faults = {
      {"a slice is missing", "no call computes", [](Model& m) { m.plan.views.pop_back(); }},
      {"a slice is a part that calls write", "a call and a view write",
       [](Model& m) { m.plan.views[0].slice = false; }},
      {"slices exchange their parts", "is no copy in order",
       [](Model& m) { std::swap(m.plan.views[0].part, m.plan.views[1].part); }},
      {"a slice has another offset", "is no copy in order", [](Model& m) { m.plan.views[1].offset = 0; }},
      {"a slice lies elsewhere", "lies elsewhere", [](Model& m) { m.plan.buffers[m.b].offset = 0; }},
      {"the reader of a slice runs before the whole is written", "before it is written",
       [](Model& m) { std::swap(m.plan.calls[0], m.plan.calls[1]); }},
      {"a workspace lies in the whole between two readers of slices", "is overwritten",
       [](Model& m) { m.plan.calls[1].workspaces.push_back({Location::Area::kArena, 512, 64}); }},
  };
  ExpectFound(PlannedSlices(), faults);
}

}  // namespace
}  // namespace kiln
