#include "lang/graph/outline.h"

#include <gmock/gmock.h>

#include "absl/strings/str_cat.h"
#include "lang/analysis/dataflow.h"
#include "lang/program/builder.h"
#include "lang/text/hash.h"
#include "lang/text/text.h"

namespace kiln {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::SizeIs;

// Extracts the tasks of a program. Returns the names of the blocks of each occurrence, task by task.
std::vector<std::vector<std::string>> TasksOf(const Program& program) {
  std::vector<std::vector<std::string>> names;
  const std::vector<Task> tasks = ExtractTasks(program).value();
  for (const Task& task : tasks) {
    for (const Outlined& place : task.occurrences) {
      names.emplace_back();
      for (const Id b : place.blocks) names.back().emplace_back(program.Text(program.block(b).name));
    }
  }
  return names;
}

constexpr DType kF32 = DType::kF32;
const IndexSum i = Builder::Iter(0), j = Builder::Iter(1), k = Builder::Iter(2);

// Adds the layer to = relu(from * w) with a new matrix w of n x n elements. Returns the buffer `to`.
Id DenseRelu(Builder& b, Id from, int64_t n, const std::string& to, bool output = false) {
  const Id w = b.Input("w_" + to, kF32, {n, n}), sums = b.Temporary("sums_" + to, kF32, {8, n});
  b.Reduce("dense_" + to, {{"i", 8}, {"j", n}, {"k", n, IterKind::kReduction}}, Monoid::Kind::kSum,
           {sums, {i, j}}, b.Mul(b.Load(from, {i, k}), b.Load(w, {k, j})));
  const Id out = output ? b.Output(to, kF32, {8, n}) : b.Temporary(to, kF32, {8, n});
  b.Compute("relu_" + to, {{"i", 8}, {"j", n}}, {out, {i, j}},
            b.Make(Op::kMax, kF32, b.Load(sums, {i, j}), b.Float(kF32, 0)));
  return out;
}

// Outline copies each shared node of an expression once: x is added to itself 60 times, in an expression of 61 nodes
// that would have 2^60 leaves as a tree.
TEST(Outline, CopiesSharedExpressionsOnce) {
  Builder b("doublings");
  Id x = b.Load(b.Input("x", kF32, {8}), {i});
  for (int depth = 0; depth < 60; ++depth) x = b.Make(Op::kAdd, kF32, x, x);
  b.Compute("double", {{"i", 8}}, {b.Output("y", kF32, {8}), {i}}, x);
  const Program program = b.Finish();

  const Program task = Outline(program, Blocks(program), "task").value().task;

  EXPECT_EQ(task.exprs.size(), 61);
  EXPECT_EQ(HashOf(task), HashOf(program));
}

TEST(Outline, MakesParametersOfBuffersThatCrossTheBorder) {
  Builder b("model");
  const Id x = b.Input("x", kF32, {8, 16});
  const Id h = DenseRelu(b, x, 16, "h");
  DenseRelu(b, h, 16, "y", /*output=*/true);
  const Program model = b.Finish();
  const std::vector<Id> blocks = Blocks(model);

  const Outlined second = Outline(model, {blocks[2], blocks[3]}, "second").value();

  std::vector<std::string> boundary;
  for (const Id buffer : second.boundary) boundary.emplace_back(model.Text(model.buffers[buffer].name));
  EXPECT_THAT(boundary, ElementsAre("h", "w_y", "y"));
  EXPECT_THAT(ToString(second.task), HasSubstr("buffer h: f32[8, 16] input"));
  EXPECT_THAT(ToString(second.task), HasSubstr("buffer sums_y: f32[8, 16] temporary"));
  EXPECT_THAT(ToString(second.task), HasSubstr("buffer y: f32[8, 16] output"));
  EXPECT_TRUE(Verify(second.task).ok());
}

TEST(Outline, KeepsTheBytesOfConstantsAndAsksForThoseThatHaveNone) {
  Builder b("model");
  const Id c = b.Constant("c", kF32, {1}, std::string(4, '\0')), given = b.Constant("given", kF32, {1});
  const Id y = b.Output("y", kF32, {8}), z = b.Output("z", kF32, {8});
  b.Compute("copy", {{"i", 8}}, {y, {i}}, b.Load(c, {IndexSum::Constant(0)}));
  const Id other =
      b.Compute("other", {{"i", 8}}, {z, {i}},
                b.Add(b.Load(c, {IndexSum::Constant(0)}), b.Load(given, {IndexSum::Constant(0)})));
  const std::string task = ToString(Outline(b.Finish(), {other}, "task").value().task);
  EXPECT_THAT(task, HasSubstr("buffer c: f32[1] constant data \"00000000\"\n"));
  EXPECT_THAT(task, HasSubstr("buffer given: f32[1] constant\n"));
}

TEST(Outline, RefusesBuffersThatOthersWriteToo) {
  Builder b("model");
  const Id y = b.Output("y", kF32, {16});
  const Id low = b.Compute("low", {{"i", 8}}, {y, {i}}, b.Float(kF32, 0));
  b.Compute("high", {{"i", 8}}, {y, {i + IndexSum::Constant(8)}}, b.Float(kF32, 1));
  EXPECT_EQ(Outline(b.Finish(), {low}, "low").status().message(),
            "blocks outside of the task write to y too");
}

TEST(ExtractTasks, EqualLayersAreOneTask) {
  Builder b("model");
  Id x = b.Input("x", kF32, {8, 16});
  for (const char* name : {"a", "b", "c"}) x = DenseRelu(b, x, 16, name);
  b.MakeOutput(x);
  const std::vector<Task> tasks = ExtractTasks(b.Finish()).value();
  ASSERT_THAT(tasks, SizeIs(1));
  EXPECT_THAT(tasks[0].occurrences, SizeIs(3));
  EXPECT_EQ(tasks[0].program.name, "model_dense_a");
}

// Returns the tasks of a model with one dot product of an input and a constant for each list of four numbers.
std::vector<Task> TasksWithConstants(const std::vector<std::vector<float>>& lists) {
  Builder b("model");
  for (size_t c = 0; c < lists.size(); ++c) {
    const std::string bytes(reinterpret_cast<const char*>(lists[c].data()), 4 * sizeof(float));
    const Id w = b.Constant(absl::StrCat("w", c), kF32, {4}, bytes);
    const Id x = b.Input(absl::StrCat("x", c), kF32, {4}), y = b.Output(absl::StrCat("y", c), kF32, {});
    b.Reduce(absl::StrCat("dot", c), {{"i", 4, IterKind::kReduction}}, Monoid::Kind::kSum, {y, {}},
             b.Mul(b.Load(x, {i}), b.Load(w, {i})));
  }
  return ExtractTasks(b.Finish()).value();
}

TEST(ExtractTasks, TakeTheBytesOfTheirConstantsWithThem) {
  const std::vector<Task> tasks = TasksWithConstants({{1, 2, 3, 4}, {5, 6, 7, 8}, {1, 2, 3, 4}});
  ASSERT_THAT(tasks, SizeIs(2));  // constants with different bytes give different tasks
  EXPECT_THAT(tasks[0].occurrences, SizeIs(2));
  EXPECT_THAT(ToString(tasks[0].program), HasSubstr("constant data \"0000803f000000400000404000008040\""));
  EXPECT_THAT(ToString(tasks[1].program), HasSubstr("constant data \"0000a0400000c0400000e04000000041\""));
  EXPECT_THAT(tasks[0].program.parameters, SizeIs(2));
  EXPECT_THAT(tasks[0].occurrences[0].boundary, SizeIs(2));
}

TEST(ExtractTasks, AnEpilogueJoinsItsReductionAndPaddingItsConsumer) {
  Builder b("model");
  const Id x = b.Input("x", kF32, {8, 16}), t = b.Temporary("t", kF32, {16, 8}),
           u = b.Temporary("u", kF32, {8, 16});
  const Id h = DenseRelu(b, x, 16, "h");
  b.Compute("turn", {{"i", 16}, {"j", 8}}, {t, {i, j}}, b.Load(h, {j, i}));
  b.Compute("turn_back", {{"i", 8}, {"j", 16}}, {u, {i, j}}, b.Load(t, {j, i}));
  DenseRelu(b, u, 16, "y", true);
  EXPECT_THAT(TasksOf(b.Finish()), ElementsAre(ElementsAre("dense_h", "relu_h"),
                                               ElementsAre("turn", "turn_back", "dense_y", "relu_y")));
}

TEST(ExtractTasks, ReductionsAlongTheSameRowsAreOneTask) {
  Builder b("softmax");
  const Id x = b.Input("x", kF32, {8, 16}), max = b.Temporary("max", kF32, {8}),
           e = b.Temporary("e", kF32, {8, 16});
  const Id sum = b.Temporary("sum", kF32, {8}), y = b.Output("y", kF32, {8, 16}),
           total = b.Output("total", kF32, {});
  const std::vector<Builder::IterSpec> reduce{{"i", 8}, {"j", 16, IterKind::kReduction}},
      map{{"i", 8}, {"j", 16}};
  b.Reduce("max", reduce, Monoid::Kind::kMax, {max, {i}}, b.Load(x, {i, j}));
  b.Compute("exp", map, {e, {i, j}},
            b.Make(Op::kExp, kF32, b.Make(Op::kSub, kF32, b.Load(x, {i, j}), b.Load(max, {i}))));
  b.Reduce("sum", reduce, Monoid::Kind::kSum, {sum, {i}}, b.Load(e, {i, j}));
  b.Compute("div", map, {y, {i, j}}, b.Make(Op::kDiv, kF32, b.Load(e, {i, j}), b.Load(sum, {i})));
  b.Reduce("total", {{"i", 8, IterKind::kReduction}, {"j", 16, IterKind::kReduction}}, Monoid::Kind::kSum,
           {total, {}}, b.Load(y, {i, j}));
  EXPECT_THAT(TasksOf(b.Finish()),
              ElementsAre(ElementsAre("max.1", "exp", "sum.1", "div"), ElementsAre("total.1")));
}

// y = h + g with the layers h = relu(x * w) and g = relu(h * w'). The addition waits for g, so it cannot join the task
// of h, for which g waits. It joins the task of g.
TEST(ExtractTasks, TasksNeverWaitForEachOther) {
  Builder b("residual");
  const Id x = b.Input("x", kF32, {8, 16});
  const Id h = DenseRelu(b, x, 16, "h"), g = DenseRelu(b, h, 16, "g");
  const Id y = b.Output("y", kF32, {8, 16});
  b.Compute("add", {{"i", 8}, {"j", 16}}, {y, {i, j}}, b.Add(b.Load(h, {i, j}), b.Load(g, {i, j})));
  EXPECT_THAT(TasksOf(b.Finish()),
              ElementsAre(ElementsAre("dense_h", "relu_h"), ElementsAre("dense_g", "relu_g", "add")));
}

// Returns a program whose status is 1 if an element of the first column of X is not positive, and otherwise 0. It also
// computes `layers` layers of DenseRelu, one after the other, from X.
Program Checked(int layers) {
  Builder b("checked");
  const Id X = b.Input("X", kF32, {8, 16}), bad = b.Temporary("bad", DType::kI32, {}),
           status = b.Temporary("status_out", DType::kI32, {});
  const Id fails =
      b.Make(Op::kSelect, DType::kI32,
             b.Make(Op::kCmpGt, DType::kI1, b.Load(X, {i, IndexSum::Constant(0)}), b.Float(kF32, 0)),
             b.Integer(DType::kI32, 0), b.Integer(DType::kI32, 1));
  b.Reduce("assert", {{"i", 8, IterKind::kReduction}}, Monoid::Kind::kOr, {bad, {}}, fails);
  b.Compute("status", {}, {status, {}}, b.Load(bad, {}));
  b.MakeStatus(status);
  Id at = X;
  for (int layer = 0; layer < layers; ++layer) at = DenseRelu(b, at, 16, absl::StrCat("l", layer), true);
  return b.Finish();
}

TEST(ExtractTasks, AssertionsStayWithAnOnlyTaskAndAreNoneOfTheirOwn) {
  EXPECT_THAT(TasksOf(Checked(1)), ElementsAre(ElementsAre("assert", "status", "dense_l0", "relu_l0")));
  EXPECT_THAT(TasksOf(Checked(2)),
              ElementsAre(ElementsAre("dense_l0", "relu_l0"), ElementsAre("dense_l1", "relu_l1")));
}

TEST(ExtractTasks, AProgramOfOneTaskStaysAsItIs) {
  Builder b("one");
  const Id x = b.Input("x", kF32, {8, 16});
  DenseRelu(b, x, 16, "y", true);
  const Program program = b.Finish();
  const std::vector<Task> tasks = ExtractTasks(program).value();
  ASSERT_THAT(tasks, SizeIs(1));
  EXPECT_EQ(ToString(tasks[0].program), ToString(program));
  EXPECT_EQ(tasks[0].occurrences[0].boundary, program.parameters);
}

}  // namespace
}  // namespace kiln
