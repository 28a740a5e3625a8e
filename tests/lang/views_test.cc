// Parts of a concatenation are written in place.
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

}  // namespace
}  // namespace kiln
