// Tests reindex, which copies a buffer so that a block indexes the copy directly by its own iters, and
// reverse-compute-inline through reshapes.
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "lang/program/builder.h"
#include "testing/same_results.h"

namespace kiln {
namespace {

using ::testing::HasSubstr;
constexpr auto kI32 = DType::kI32;

// Returns the program x = 2 A;  y[j, i] sum= x[i + r] * W[r, j];  B = y. If `padded`, x[i + r - 1], 0 outside of x,
// takes the place of x[i + r].
Program Conv(bool padded = false) {
  Builder b("conv");
  const Id A = b.Input("A", kI32, {10}), W = b.Input("W", kI32, {3, 4}), x = b.Temporary("x", kI32, {10}),
           y = b.Temporary("y", kI32, {4, 8}), B = b.Output("B", kI32, {4, 8});
  const IndexSum i = b.Iter(0), j = b.Iter(1), r = b.Iter(2);
  b.Compute("twice", {{"i", 10}}, {x, {i}}, b.Add(b.Load(A, {i}), b.Load(A, {i})));
  const IndexSum at = i + r + IndexSum::Constant(padded ? -1 : 0);
  Id value = b.Load(x, {at});
  if (padded) value = b.Within({{at, 10}}, value, b.Integer(kI32, 0));
  b.Reduce("conv", {{"i", 8}, {"j", 4}, {"r", 3, IterKind::kReduction}}, Monoid::Kind::kSum, {y, {j, i}},
           b.Mul(value, b.Load(W, {r, j})));
  b.Compute("copy", {{"j", 4}, {"i", 8}}, {B, {i, j}}, b.Load(y, {i, j}));
  return b.Finish();
}

TEST(Reindex, ABlockReadsByItsOwnIters) {
  Schedule s = Scheduled(Conv());
  const Block copy = s.Reindex(s.GetBlock("conv"), 0);
  ASSERT_TRUE(s.ok()) << s.status();
  EXPECT_THAT(ToString(s.program()), HasSubstr(R"(
for i < 8 {
  for r < 3 {
    block x.reindex.1 {
      spatial i < 8 = i
      spatial r < 3 = r
      x.reindex[i, r] = x[i + r]
      from copy x
    }
  }
}
)"));
  EXPECT_THAT(ToString(s.program()), HasSubstr("y[j, i] sum= x.reindex[i, r]*W[r, j]"));
  ExpectSameResults(Conv(), s.program());
  s.ComputeAt(copy, s.GetLoops(s.GetBlock("conv"))[0]);
  ASSERT_TRUE(s.ok()) << s.status();
  ExpectSameResults(Conv(), s.program());
}

TEST(Reindex, RefusesTilesOfAFusedLoopOfOneIterationThatAreEmpty) {
  // Refuses to reindex x for a block in a fused loop f < 1 that is split by 2, so that one of its iterations is an
  // empty tile.
  //    for i0 < 4: { x[i0] = A[i0];  for f < 1: B[i0 + f, f % 1] = x[i0 + f] }
  Builder b("unit");
  const Id A = b.Input("A", kI32, {4}), x = b.Temporary("x", kI32, {4}), B = b.Output("B", kI32, {4, 1});
  b.Compute("make", {{"i", 4}}, {x, {b.Iter(0)}}, b.Load(A, {b.Iter(0)}));
  b.Compute("copy", {{"i", 4}, {"j", 1}}, {B, {b.Iter(0), b.Iter(1)}}, b.Load(x, {b.Iter(0)}));
  Schedule s = Scheduled(b.Finish());
  const auto loops = s.GetLoops(s.GetBlock("copy"));
  const auto parts = s.Split(loops[0], {4, 1});
  s.ComputeAt(s.GetBlock("make"), parts[0]);
  s.Split(s.Fuse({parts[1], loops[1]}), {1, 2});
  ASSERT_TRUE(s.ok()) << s.status();
  s.Reindex(s.GetBlock("copy"), 0);
  EXPECT_THAT(Refusal(s), HasSubstr("some tiles of block \"copy\" are empty, or imperfect"));
}

TEST(Reindex, CopiesNoMoreThanTilesThatBeginBeforeTheFirstElementHave) {
  // Copies A for the block that computes x in the loop of its reader, reindexes the copy, and keeps the results. The
  // first iteration begins before the first element, and no iteration reads the last one.
  //    for i < 4: { x[i - 1] = A[i - 1];  B[i] = i > 0 ? x[i - 1] : 0 }
  Builder b("before");
  const Id A = b.Input("A", kI32, {4}), x = b.Temporary("x", kI32, {4}), B = b.Output("B", kI32, {4});
  const IndexSum i = b.Iter(0), before = i + IndexSum::Constant(-1);
  b.Compute("make", {{"i", 4}}, {x, {i}}, b.Load(A, {i}));
  b.Compute("use", {{"i", 4}}, {B, {i}}, b.Within({{before, 4}}, b.Load(x, {before}), b.Integer(kI32, 0)));
  const Program program = b.Finish();
  Schedule s = Scheduled(program);
  s.ComputeAt(s.GetBlock("make"), s.GetLoops(s.GetBlock("use"))[0]);
  s.CacheRead(s.GetBlock("make"), 0);
  s.Reindex(s.GetBlock("make"), 0);
  ASSERT_TRUE(s.ok()) << s.status();
  ExpectSameResults(program, s.program());
}

TEST(Reindex, ABlockWritesByItsOwnIters) {
  Schedule s = Scheduled(Conv());
  const Block copy = s.Reindex(s.GetBlock("conv"), -1);
  ASSERT_TRUE(s.ok()) << s.status();
  EXPECT_THAT(ToString(s.program()), HasSubstr("y.reindex[i, j] sum= x[i + r]*W[r, j]"));
  EXPECT_THAT(ToString(s.program()), HasSubstr("y[j, i] = y.reindex[i, j]"));
  EXPECT_EQ(s.GetConsumers(copy).size(), 1u);
  ExpectSameResults(Conv(), s.program());
}

TEST(Reindex, AgreesWithTheInterpreterOnTiledBlocks) {
  for (const int64_t tile : {3, 4}) {
    for (const int operand : {-1, 0, 1}) {
      Schedule s = Scheduled(Conv());
      const Block conv = s.GetBlock("conv");
      const auto i = s.Split(s.GetLoops(conv)[0], {kAuto, tile});
      if (operand != 1) s.ComputeAt(s.GetBlock("twice"), i[0]);
      s.Reindex(conv, operand);
      if (tile == 4 || operand != 0) EXPECT_TRUE(s.ok()) << s.status();
      if (s.ok()) ExpectSameResults(Conv(), s.program());
    }
  }
}

TEST(Reindex, RefusesReadsWithinBounds) {
  Schedule s = Scheduled(Conv(true));
  s.Reindex(s.GetBlock("conv"), 0);
  EXPECT_THAT(Refusal(s), HasSubstr("it accesses x within bounds only"));
}

TEST(Reindex, RefusesAnOperandThatThereIsNot) {
  Schedule s = Scheduled(Conv());
  s.Reindex(s.GetBlock("conv"), 2);
  EXPECT_THAT(Refusal(s), HasSubstr("block \"conv\" reads 2 buffers; there is no operand 2"));
}

TEST(Reindex, RefusesReadsAtSeveralIndices) {
  Builder b("twice");
  const Id A = b.Input("A", kI32, {6}), B = b.Output("B", kI32, {5});
  const IndexSum i = b.Iter(0);
  b.Compute("sum", {{"i", 5}}, {B, {i}}, b.Add(b.Load(A, {i}), b.Load(A, {i + IndexSum::Constant(1)})));
  Schedule s = Scheduled(b.Finish());
  s.Reindex(s.GetBlock("sum"), 0);
  EXPECT_THAT(Refusal(s), HasSubstr("block \"sum\" reads A at several indices"));
}

TEST(Reindex, RefusesInstancesThatWriteOneElement) {
  Builder b("same");
  const Id A = b.Input("A", kI32, {6}), B = b.Output("B", kI32, {3});
  b.Compute("last", {{"i", 6}}, {B, {IndexSum{0, {IndexSplit{Source::Iter(0), 1, 2, 0}}}}},
            b.Load(A, {b.Iter(0)}));
  Schedule s = Scheduled(b.Finish());
  s.Reindex(s.GetBlock("last"), -1);
  EXPECT_THAT(Refusal(s), HasSubstr("instances of block \"last\" may write the same element"));
}

// Returns the program t = A + 1, of 6 x 4 elements;  B[x, ...] = t[index] * x, where B has the given shape, and `index`
// gives the indices of t for those of B.
Program Reshaped(const std::vector<Extent>& shape, const std::vector<IndexSum>& index) {
  Builder b("reshaped");
  const Id A = b.Input("A", kI32, {6, 4}), t = b.Temporary("t", kI32, {6, 4}), B = b.Output("B", kI32, shape);
  const std::vector<IndexSum> own{b.Iter(0), b.Iter(1)};
  b.Compute("one", {{"i", 6}, {"j", 4}}, {t, own}, b.Add(b.Load(A, own), b.Integer(kI32, 1)));
  std::vector<Builder::IterSpec> iters;
  std::vector<IndexSum> at;
  for (size_t d = 0; d < shape.size(); ++d) {
    iters.push_back({std::string(1, static_cast<char>('x' + d)), shape[d]});
    at.push_back(b.Iter(static_cast<int>(d)));
  }
  b.Compute("shape", iters, {B, at}, b.Mul(b.Load(t, index), b.Cast(kI32, b.Index(at[0]))));
  return b.Finish();
}

IndexSum Digit(int iter, int64_t lower, int64_t extent) {
  return IndexSum{0, {IndexSplit{Source::Iter(iter), 1, lower, extent}}};
}

TEST(ReverseComputeInline, GoesThroughACollapse) {
  const Program before = Reshaped({24}, {Digit(0, 4, 0), Digit(0, 1, 4)});
  Schedule s = Scheduled(before);
  s.ReverseComputeInline(s.GetBlock("shape"));
  ASSERT_TRUE(s.ok()) << s.status();
  EXPECT_THAT(ToString(s.program()), HasSubstr("B[i*4 + j] = (A[i, j] + i32(1))*i32(index(i*4 + j))"));
  EXPECT_THAT(ToString(s.program()), HasSubstr("from compute 5 (i*4 + j < 24)"));
  ExpectSameResults(before, s.program());
}

TEST(ReverseComputeInline, GoesThroughAnExpansionAndATranspose) {
  const Program before = Reshaped({2, 4, 3}, {Builder::Iter(0) * 3 + Builder::Iter(2), Builder::Iter(1)});
  Schedule s = Scheduled(before);
  s.ReverseComputeInline(s.GetBlock("shape"));
  ASSERT_TRUE(s.ok()) << s.status();
  EXPECT_THAT(ToString(s.program()), HasSubstr("B[i/3, j, i%3] = "));
  ExpectSameResults(before, s.program());
}

TEST(ReverseComputeInline, RefusesReadsThatLeaveElementsOut) {
  Schedule s = Scheduled(Reshaped({12}, {Digit(0, 4, 0), Digit(0, 1, 4)}));
  s.ReverseComputeInline(s.GetBlock("shape"));
  EXPECT_THAT(Refusal(s), HasSubstr("it does not read t element by element"));
}

}  // namespace
}  // namespace kiln
