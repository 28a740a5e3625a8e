// Tests MergeEqualBlocks: what a model computes twice is computed once.
#include "lang/graph/equal_blocks.h"

#include <gmock/gmock.h>

#include "lang/analysis/dataflow.h"
#include "lang/program/builder.h"
#include "testing/same_results.h"

namespace kiln {
namespace {

using ::testing::HasSubstr;

constexpr DType kF32 = DType::kF32;
const IndexSum i = Builder::Iter(0), j = Builder::Iter(1);

// Returns the program s = the row sums of X, t = s once more, u = s + a, v = second(t, b_factor), Y = u + v, with a
// block for each of them.
Program Twice(double a, double b_factor, Op second = Op::kAdd) {
  Builder b("net");
  const Id x = b.Input("x", kF32, {4, 8}), y = b.Output("y", kF32, {4});
  Id parts[2];
  for (const int n : {0, 1}) {
    const Id sums = b.Temporary(n == 0 ? "s" : "t", kF32, {4}),
             out = b.Temporary(n == 0 ? "u" : "v", kF32, {4});
    b.Reduce("sum", {{"i", 4}, {"j", 8, IterKind::kReduction}}, Monoid::Kind::kSum, {sums, {i}},
             b.Load(x, {i, j}));
    b.Compute(
        "scale", {{"i", 4}}, {out, {i}},
        b.Make(n == 0 ? Op::kAdd : second, kF32, b.Load(sums, {i}), b.Float(kF32, n == 0 ? a : b_factor)));
    parts[n] = out;
  }
  b.Compute("both", {{"i", 4}}, {y, {i}}, b.Add(b.Load(parts[0], {i}), b.Load(parts[1], {i})));
  return b.Finish();
}

TEST(EqualBlocks, AreComputedOnceWithWhatReadsThem) {
  const Program before = Twice(3, 3);
  Program after = before;
  EXPECT_EQ(MergeEqualBlocks(after), 2);
  EXPECT_EQ(Blocks(after).size(), 3);
  EXPECT_THAT(ToString(after), HasSubstr("y[i] = u[i] + u[i]"));
  ExpectSameResults(before, after);
}

TEST(EqualBlocks, OthersStay) {
  for (const Program& before : {Twice(3, 4), Twice(3, 3, Op::kSub)}) {
    Program after = before;
    EXPECT_EQ(MergeEqualBlocks(after), 1);  // the sums
    EXPECT_EQ(Blocks(after).size(), 4);
    ExpectSameResults(before, after);
  }
}

}  // namespace
}  // namespace kiln
