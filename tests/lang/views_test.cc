// Parts of a concatenation are written in place, and slices are read in place.
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

// Two products side by side (`axis` 1) or one after the other (`axis` 0), and a product of all.
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

TEST(Views, PartsSideBySideOrUnalignedAreCopied) {
  for (Program model : {Concatenation(1), Concatenation(0, 3)}) EXPECT_EQ(MarkViews(model, 64), 0);
}

// A product of the rows of another one, from `first` on, and its last `rows` rows.
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
