// Tests views of model plans (lang/graph/views.h): blocks write the parts of a concatenation in place and read slices
// in place, without copies.
#include "lang/graph/views.h"

#include <gmock/gmock.h>

#include "absl/strings/str_cat.h"
#include "lang/graph/outline.h"
#include "lang/model/plan_calls.h"
#include "lang/model/plan_text.h"
#include "lang/program/builder.h"

namespace kiln {
namespace {

using ::testing::HasSubstr;

constexpr DType kF32 = DType::kF32;
const IndexSum i = Builder::Iter(0), j = Builder::Iter(1), k = Builder::Iter(2);

// Returns a program of two products of `rows` x 8 elements, their concatenation along `axis`, and a product of the
// first `rows` rows and eight columns of the concatenation.
Program Concatenation(int axis, int64_t rows = 4) {
  Builder b("net");
  const Id x = b.Input("x", kF32, {rows, 8});
  const Id both = b.Temporary("both", kF32, {axis == 0 ? 2 * rows : rows, axis == 0 ? 8 : 16});
  std::vector<Id> parts;
  for (const int n : {0, 1}) {
    const Id w = b.Constant(absl::StrCat("w", n), kF32, {8, 8});
    parts.push_back(b.Temporary(absl::StrCat("part", n), kF32, {rows, 8}));
    b.Reduce(absl::StrCat("dense", n), {{"i", rows}, {"j", 8}, {"k", 8, IterKind::kReduction}},
             Monoid::Kind::kSum, {parts[n], {i, j}}, b.Mul(b.Load(x, {i, k}), b.Load(w, {k, j})));
  }
  for (const int n : {0, 1}) {
    b.Compute(
        absl::StrCat("put", n), {{"i", rows}, {"j", 8}},
        {both,
         {axis == 0 ? i + IndexSum::Constant(n * rows) : i, axis == 1 ? j + IndexSum::Constant(8 * n) : j}},
        b.Load(parts[n], {i, j}));
  }
  const Id w = b.Constant("w2", kF32, {8, 8}), y = b.Output("y", kF32, {rows, 8});
  b.Reduce("last", {{"i", rows}, {"j", 8}, {"k", 8, IterKind::kReduction}}, Monoid::Kind::kSum, {y, {i, j}},
           b.Mul(b.Load(both, {i, k}), b.Load(w, {k, j})));
  return b.Finish();
}

TEST(Views, ConsecutivePartsNeedNoCopy) {
  Program model = Concatenation(0);
  EXPECT_EQ(MarkViews(model, 64), 2);
  const std::vector<Task> tasks = ExtractAllTasks(model).value();
  const ModelPlan plan = PlanCalls(model, tasks, std::vector<TaskNeeds>(tasks.size())).value();
  EXPECT_EQ(plan.calls.size(), 3);  // the products
  EXPECT_THAT(MemoryText(model, plan), HasSubstr("  0 .. 128  part0  part of both\n"
                                                 "  0 .. 256  both  calls 0 to 2\n"
                                                 "  128 .. 256  part1  part of both\n"));
}

// Builds a model from products of 4 x 8 elements, concatenations of their results, and products of the concatenations.
struct Net {
  Builder b{"net"};
  const Id x = b.Input("x", kF32, {4, 8});

  Id Dense(Id from, int64_t rows, const std::string& name) {
    const Id w = b.Constant(absl::StrCat("w.", name), kF32, {8, 8}), to = b.Temporary(name, kF32, {rows, 8});
    b.Reduce(absl::StrCat("dense.", name), {{"i", rows}, {"j", 8}, {"k", 8, IterKind::kReduction}},
             Monoid::Kind::kSum, {to, {i, j}}, b.Mul(b.Load(from, {i, k}), b.Load(w, {k, j})));
    return to;
  }

  // Adds a concatenation of the parts along rows, with one block for each part, and a product that reads it.
  void Put(const std::vector<Id>& parts, const std::string& name) {
    const auto rows = static_cast<int64_t>(4 * parts.size());
    const Id whole = b.Temporary(name, kF32, {rows, 8});
    for (size_t n = 0; n < parts.size(); ++n) {
      b.Compute("put", {{"i", 4}, {"j", 8}},
                {whole, {i + IndexSum::Constant(static_cast<int64_t>(4 * n)), j}}, b.Load(parts[n], {i, j}));
    }
    b.MakeOutput(Dense(whole, rows, absl::StrCat("of.", name)));
  }

  // Finishes and plans the model. Returns the number of calls as text, and for each view the name of the part, its
  // offset in bytes and the buffer in which it lies.
  std::string Planned() {
    Program model = b.Finish();
    MarkViews(model, 64);
    const std::vector<Task> tasks = ExtractAllTasks(model).value();
    const ModelPlan plan = PlanCalls(model, tasks, std::vector<TaskNeeds>(tasks.size())).value();
    std::string text = absl::StrCat(plan.calls.size(), " calls");
    for (const ModelView& view : plan.views)
      absl::StrAppend(&text, ", ", model.Text(model.buffers[view.part].name), " at ", view.offset, " of ",
                      model.Text(model.buffers[view.whole].name));
    return text;
  }
};

TEST(Views, AConcatenationLiesInALargerOneThatContainsIt) {
  Net net;
  const Id p = net.Dense(net.x, 4, "p"), q = net.Dense(net.x, 4, "q");
  net.Put({p, q}, "two");
  const Id r = net.Dense(net.x, 4, "r");
  net.Put({r, p, q}, "three");
  EXPECT_EQ(net.Planned(), "5 calls, p at 0 of two, q at 128 of two, r at 0 of three, two at 128 of three");
}

TEST(Views, APartOfTwoConcatenationsIsCopiedToOneOfThem) {
  Net net;
  const Id p = net.Dense(net.x, 4, "p"), q = net.Dense(net.x, 4, "q"), r = net.Dense(net.x, 4, "r");
  net.Put({p, q}, "one");
  net.Put({q, r}, "two");
  // No call copies q from one concatenation to the other: the product that computes q stores it to both.
  EXPECT_EQ(net.Planned(), "5 calls, p at 0 of one, q at 128 of one, two.part at 0 of two, r at 128 of two");
}

TEST(Views, ParametersAreCopiedIfPartsOfTheirOwnMakeUpHalf) {
  Net half, less;
  half.Put({half.x, half.Dense(half.x, 4, "p")}, "both");
  EXPECT_EQ(half.Planned(), "3 calls, both.part at 0 of both, p at 128 of both");
  less.Put({less.x, less.x, less.Dense(less.x, 4, "p")}, "all");
  EXPECT_EQ(less.Planned(), "2 calls");
}

// If one block writes a whole concatenation, as the importer reads a tensor.concat, each part is still written in
// place:
//    both[i, j] = i < 4 ? p[i, j] : q[i - 4, j]
TEST(Views, AConcatenationInOneBlockIsAStoreForEachPart) {
  Net net;
  Builder& b = net.b;
  const Id p = net.Dense(net.x, 4, "p"), q = net.Dense(net.x, 4, "q"),
           both = b.Temporary("both", kF32, {8, 8});
  const IndexSum below = i + IndexSum::Constant(-4);
  b.Compute(
      "concat", {{"i", 8}, {"j", 8}}, {both, {i, j}},
      b.Within({{i, 4}}, b.Load(p, {i, j}), b.Within({{below, 4}}, b.Load(q, {below, j}), b.Float(kF32, 0))));
  b.MakeOutput(net.Dense(both, 8, "y"));
  EXPECT_EQ(net.Planned(), "3 calls, p at 0 of both, q at 128 of both");
}

TEST(Views, PartsThatOverlapAreCopied) {
  Builder b("net");
  const Id x = b.Input("x", kF32, {4, 8}), both = b.Temporary("both", kF32, {8, 8});
  for (const int n : {0, 1}) {
    const Id part = b.Temporary(absl::StrCat("part", n), kF32, {4, 8});
    b.Compute("negate", {{"i", 4}, {"j", 8}}, {part, {i, j}}, b.Make(Op::kNeg, kF32, b.Load(x, {i, j})));
    b.Compute("put", {{"i", 4}, {"j", 8}}, {both, {i, j}}, b.Load(part, {i, j}));
  }
  b.MakeOutput(both);
  Program model = b.Finish();
  EXPECT_EQ(MarkViews(model, 64), 0);
}

TEST(Views, PartsSideBySideOrUnalignedAreCopied) {
  for (Program model : {Concatenation(1), Concatenation(0, 3)}) EXPECT_EQ(MarkViews(model, 64), 0);
}

// Returns the program all = x * w, of 12 rows, and the products of two slices of `all` with w: `rows` rows from row
// `first` on, and the last `rows` rows.
Program Slices(int64_t first, int64_t rows = 4) {
  Builder b("net");
  const Id x = b.Input("x", kF32, {12, 8}), w = b.Constant("w", kF32, {8, 8}),
           all = b.Temporary("all", kF32, {12, 8});
  const auto dense = [&](Id from, int64_t height, Id to) {
    b.Reduce("dense", {{"i", height}, {"j", 8}, {"k", 8, IterKind::kReduction}}, Monoid::Kind::kSum,
             {to, {i, j}}, b.Mul(b.Load(from, {i, k}), b.Load(w, {k, j})));
  };
  dense(x, 12, all);
  for (const int64_t from : {first, 12 - rows}) {
    const Id slice = b.Temporary(absl::StrCat("rows", from), kF32, {rows, 8});
    b.Compute("take", {{"i", rows}, {"j", 8}}, {slice, {i, j}},
              b.Load(all, {i + IndexSum::Constant(from), j}));
    dense(slice, rows, b.Output(absl::StrCat("y", from), kF32, {rows, 8}));
  }
  return b.Finish();
}

TEST(Views, SlicesAreReadInPlace) {
  Program model = Slices(2);
  EXPECT_EQ(MarkViews(model, 64), 2);
  const std::vector<Task> tasks = ExtractAllTasks(model).value();
  const ModelPlan plan = PlanCalls(model, tasks, std::vector<TaskNeeds>(tasks.size())).value();
  EXPECT_EQ(tasks.size(), 2);       // products of 12 and of 4 rows
  EXPECT_EQ(plan.calls.size(), 3);  // the products
  EXPECT_THAT(MemoryText(model, plan), HasSubstr("  64 .. 192  rows2  part of all\n"));
  EXPECT_THAT(MemoryText(model, plan), HasSubstr("  256 .. 384  rows8  part of all\n"));
}

TEST(Views, SlicesThatOverlapOrAreUnalignedAreCopied) {
  Program overlapping = Slices(6);  // rows 6 to 9 and 8 to 11: the second is copied
  EXPECT_EQ(MarkViews(overlapping, 64), 1);
  Program unaligned = Slices(1);
  EXPECT_EQ(MarkViews(unaligned, 64), 1);
}

}  // namespace
}  // namespace kiln
