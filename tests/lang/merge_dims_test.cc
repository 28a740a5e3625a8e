#include "lang/graph/merge_dims.h"

#include "gmock/gmock.h"
#include "lang/analysis/dataflow.h"
#include "lang/program/builder.h"
#include "lang/text/serialize.h"
#include "lang/text/text.h"
#include "testing/same_results.h"

namespace kiln {
namespace {

using ::testing::HasSubstr;

constexpr DType kF32 = DType::kF32;
const IndexSum h = Builder::Iter(0), w = Builder::Iter(1), f = Builder::Iter(2), c = Builder::Iter(3);

// Returns the program Y[h, w, f] sum= X[h, stride*w, c] * W[c, f], and Z = max(Y, 0).
Program Pointwise(int64_t width_of_x = 7, int64_t stride = 1, int64_t channels = 3) {
  Builder b("pointwise");
  const Id x = b.Input("X", kF32, {6, width_of_x, 4}), weights = b.Constant("W", kF32, {4, channels}),
           y = b.Temporary("Y", kF32, {6, 7, channels}), z = b.Output("Z", kF32, {6, 7, channels});
  b.Reduce("conv", {{"h", 6}, {"w", 7}, {"f", channels}, {"c", 4, IterKind::kReduction}}, Monoid::Kind::kSum,
           {y, {h, w, f}}, b.Mul(b.Load(x, {h, w * stride, c}), b.Load(weights, {c, f})));
  b.Compute("relu", {{"h", 6}, {"w", 7}, {"f", channels}}, {z, {h, w, f}},
            b.Make(Op::kMax, kF32, b.Load(y, {h, w, f}), b.Float(kF32, 0)));
  return b.Finish();
}

void ExpectUnchanged(const Program& program) { EXPECT_EQ(ToString(MergeDims(program)), ToString(program)); }

TEST(MergeDims, JoinsRowsAndColumnsOfImagesUnderWindowsOfOneElement) {
  const Program before = Pointwise(), after = MergeDims(before);
  EXPECT_THAT(ToString(after), HasSubstr("buffer X: f32[42, 4] input"));
  EXPECT_THAT(ToString(after), HasSubstr("Y[hw, f] sum= X[hw, c]*W[c, f]"));
  EXPECT_THAT(ToString(after), HasSubstr("Z[hw, f] = "));
  ExpectSameResults(before, after);
}

TEST(MergeDims, MakesAProgramThatCanBeStored) {
  const Program after = MergeDims(Pointwise());
  const auto read = Deserialize(Serialize(after));
  ASSERT_TRUE(read.ok()) << read.status();
  EXPECT_EQ(ToString(*read), ToString(after));
}

TEST(MergeDims, JoinsAllDimensionsOfWhatIsElementwise) {
  Builder b("relu");
  const Id x = b.Input("X", kF32, {2, 3, 4}), y = b.Output("Y", kF32, {2, 3, 4});
  b.Compute("relu", {{"i", 2}, {"j", 3}, {"k", 4}}, {y, {h, w, f}}, b.Load(x, {h, w, f}));
  EXPECT_THAT(ToString(MergeDims(b.Finish())), HasSubstr("Y[ijk] = X[ijk]"));
}

TEST(MergeDims, LooksPastItersOfExtentOne) {
  Builder b("unit");
  const Id x = b.Input("X", kF32, {6, 7}), k = b.Input("K", kF32, {1, 1}), y = b.Output("Y", kF32, {6, 7});
  b.Reduce("conv", {{"h", 6}, {"w", 7}, {"p", 1, IterKind::kReduction}, {"q", 1, IterKind::kReduction}},
           Monoid::Kind::kSum, {y, {h, w}}, b.Mul(b.Load(x, {h + f, w + c}), b.Load(k, {f, c})));
  EXPECT_THAT(ToString(MergeDims(b.Finish())), HasSubstr("Y[hw] sum= X[hw]*K[p, q]"));
}

TEST(MergeDims, LeavesStridesAndPartsOfRows) {
  ExpectUnchanged(Pointwise(13, 2));
  ExpectUnchanged(Pointwise(8));
}

TEST(MergeDims, LeavesWhatAnotherBlockWalksOtherwise) {
  Builder b("transposed");
  const Id x = b.Input("X", kF32, {6, 7}), y = b.Temporary("Y", kF32, {6, 7}),
           z = b.Output("Z", kF32, {7, 6});
  b.Compute("relu", {{"i", 6}, {"j", 7}}, {y, {h, w}}, b.Load(x, {h, w}));
  b.Compute("turn", {{"i", 7}, {"j", 6}}, {z, {h, w}}, b.Load(y, {w, h}));
  ExpectUnchanged(b.Finish());
}

TEST(MergeDims, LeavesItersThatAreValuesOrGuards) {
  Builder b("index");
  const Id x = b.Input("X", kF32, {6, 7}), y = b.Output("Y", kF32, {6, 7}),
           z = b.Output("Z", DType::kI64, {6, 7});
  b.Compute("guarded", {{"i", 6}, {"j", 7}}, {y, {h, w}},
            b.Within({{w, 5}}, b.Load(x, {h, w}), b.Float(kF32, 0)));
  b.Compute("value", {{"i", 6}, {"j", 7}}, {z, {h, w}}, b.Cast(DType::kI64, b.Index(h)));
  ExpectUnchanged(b.Finish());
}

TEST(MergeDims, LeavesGatheredBuffersAndSumsBesideRows) {
  Builder b("kinds");
  const Id x = b.Input("X", kF32, {6, 7}), y = b.Output("Y", kF32, {6});
  b.Reduce("rows", {{"i", 6}, {"j", 7, IterKind::kReduction}}, Monoid::Kind::kSum, {y, {h}},
           b.Load(x, {h, w}));
  const Id g = b.Output("G", kF32, {2, 3});
  const Id t = b.Input("T", kF32, {2, 3});
  b.Compute("gather", {{"i", 2}, {"j", 3}}, {g, {h, w}},
            b.Add(b.Load(t, {h, w}), b.Gather(t, {b.Index(w), b.Index(h)})));
  ExpectUnchanged(b.Finish());
}

// Returns the program T[h, g, f] sum= X[h, g, c] * W[g, c, f];  Y = T[index], where Y has the given shape and `index`
// gives the indices of T for those of Y.
Program Groups(const std::vector<Extent>& shape, const std::vector<IndexSum>& index) {
  Builder b("groups");
  const Id x = b.Input("X", kF32, {6, 2, 4}), weights = b.Input("W", kF32, {2, 4, 3}),
           t = b.Temporary("T", kF32, {6, 2, 3}), y = b.Output("Y", kF32, shape);
  b.Reduce("sum", {{"h", 6}, {"g", 2}, {"f", 3}, {"c", 4, IterKind::kReduction}}, Monoid::Kind::kSum,
           {t, {h, w, f}}, b.Mul(b.Load(x, {h, w, c}), b.Load(weights, {w, c, f})));
  std::vector<Builder::IterSpec> iters;
  std::vector<IndexSum> own;
  for (size_t d = 0; d < shape.size(); ++d) {
    iters.push_back({std::string(1, static_cast<char>('p' + d)), shape[d]});
    own.push_back(Builder::Iter(static_cast<int>(d)));
  }
  b.Compute("copy", iters, {y, own}, b.Load(t, index));
  return b.Finish();
}

TEST(DensifyStridedReads, PixelsThatAreReadInStepsAreCopiedTogether) {
  const Program before = Pointwise(13, 2, 16), after = MergeDims(before);
  EXPECT_THAT(ToString(after), HasSubstr("X.dense[c0*7 + c1, c2] = X[c0, c1*2, c2]"));
  EXPECT_THAT(ToString(after), HasSubstr("Y[hw, f] sum= X.dense[hw, c]*W[c, f]"));
  ExpectSameResults(before, after);
}

TEST(DensifyStridedReads, LeavesWhatIsReadFewTimes) { ExpectUnchanged(Pointwise(13, 2, 15)); }

TEST(DensifyStridedReads, CopiesFromTheReuseOnThatTheCostsName) {
  const Program program = Pointwise(13, 2, 8);
  EXPECT_THAT(ToString(MergeDims(program, {}, {.dense_reuse = 8})), HasSubstr("X.dense"));
  EXPECT_EQ(ToString(MergeDims(program, {}, {.dense_reuse = 9})), ToString(program));
}

// DensifyStridedReads leaves a read in steps of 2 that only a guard keeps inside of X, which has nine rows:
//    Y[h, w] sum= (h < 5 ? X[h * 2, c] : 0) * W[c, w], for h < 7
TEST(DensifyStridedReads, LeavesReadsThatAGuardKeepsInside) {
  Builder b("guarded");
  const Id x = b.Input("X", kF32, {9, 4}), weights = b.Input("W", kF32, {4, 16}),
           y = b.Output("Y", kF32, {7, 16});
  b.Reduce("sum", {{"h", 7}, {"f", 16}, {"c", 4, IterKind::kReduction}}, Monoid::Kind::kSum, {y, {h, w}},
           b.Mul(b.Within({{h, 5}}, b.Load(x, {h * 2, f}), b.Float(kF32, 0)), b.Load(weights, {f, w})));
  ExpectUnchanged(b.Finish());
}

TEST(DensifyStridedReads, KeepsWhereTheFirstElementIs) {
  Builder b("odd");
  const Id x = b.Input("X", kF32, {4, 14}), weights = b.Input("W", kF32, {4, 16}),
           y = b.Output("Y", kF32, {16, 6});
  b.Reduce("sum", {{"f", 16}, {"h", 6}, {"c", 4, IterKind::kReduction}}, Monoid::Kind::kSum, {y, {h, w}},
           b.Mul(b.Load(x, {f, w * 2 + IndexSum::Constant(3)}), b.Load(weights, {f, h})));
  const Program before = b.Finish(), after = MergeDims(before);
  EXPECT_THAT(ToString(after), HasSubstr("X.dense[c0, c1] = X[c0, c1*2 + 1]"));
  EXPECT_THAT(ToString(after), HasSubstr("Y[f, h] sum= X.dense[c, h + 1]*W[c, f]"));
  ExpectSameResults(before, after);
}

TEST(DensifyStridedReads, LeavesWindows) {
  Builder b("window");
  const Id x = b.Input("X", kF32, {13, 4}), weights = b.Input("W", kF32, {3, 4, 16}),
           y = b.Output("Y", kF32, {6, 16});
  b.Reduce("conv", {{"h", 6}, {"f", 16}, {"k", 3, IterKind::kReduction}, {"c", 4, IterKind::kReduction}},
           Monoid::Kind::kSum, {y, {h, w}}, b.Mul(b.Load(x, {h * 2 + f, c}), b.Load(weights, {f, c, w})));
  ExpectUnchanged(b.Finish());
}

TEST(ForwardCopies, SumsStandInTheShapeOfTheResult) {
  const IndexSum group{0, {IndexSplit{Source::Iter(1), 1, 3, 0}}},
      channel{0, {IndexSplit{Source::Iter(1), 1, 1, 3}}};
  const Program before = Groups({6, 6}, {h, group, channel}), after = MergeDims(before);
  EXPECT_THAT(ToString(after), HasSubstr("Y[h, g*3 + f] sum= X[h, g, c]*W[g, c, f]"));
  EXPECT_EQ(Blocks(after).size(), 1);
  ExpectSameResults(before, after);
}

TEST(ForwardCopies, LeavesCopiesThatPermute) { ExpectUnchanged(Groups({2, 6, 3}, {w, h, f})); }

TEST(MergeDims, ComputesTheSame) {
  for (uint64_t seed = 0; seed < 500; ++seed) {
    SCOPED_TRACE(seed);
    RandomDice dice(Engine({seed}));
    const Program before = RandomProgram(dice);
    ExpectSameResults(before, MergeDims(before));
  }
}

}  // namespace
}  // namespace kiln
