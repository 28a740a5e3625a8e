// Tests primitives on reductions with two results: each must keep both results, or refuse.
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "lang/program/builder.h"
#include "testing/same_results.h"

namespace kiln {
namespace {

using ::testing::HasSubstr;

// Returns the program T = 2 * X;  V[i], P[i] = the greatest of T[i, k] and its k;  Y[i] = V[i] + P[i]. With
// `position_alone`, Y[i] = P[i], and V is an output, too.
Program Picked(bool position_alone = false) {
  Builder b("picked");
  const DType type = DType::kI32;
  const Id X = b.Input("X", type, {6, 10}), Y = b.Output("Y", type, {6}), V = b.Temporary("V", type, {6}),
           P = b.Temporary("P", type, {6}), T = b.Temporary("T", type, {6, 10});
  const IndexSum i = b.Iter(0), k = b.Iter(1);
  b.Compute("twice", {{"i", 6}, {"k", 10}}, {T, {i, k}}, b.Add(b.Load(X, {i, k}), b.Load(X, {i, k})));
  b.Reduce("argmax", {{"i", 6}, {"k", 10, IterKind::kReduction}}, b.ArgMonoid(Monoid::Kind::kMax, type, type),
           {{V, {i}}, {P, {i}}}, {b.Load(T, {i, k}), b.Cast(type, b.Index(k))});
  const Id at = b.Load(P, {i});
  b.Compute("reader", {{"i", 6}}, {Y, {i}}, position_alone ? at : b.Add(b.Load(V, {i}), at));
  if (position_alone) b.MakeOutput(V);
  return b.Finish();
}

TEST(TwoResults, AreFactoredAtEitherAxisAndCombined) {
  for (const int64_t axis : {0, -1}) {
    for (const int outer : {0, 1}) {
      Schedule s = Scheduled(Picked());
      const Block block = s.GetBlock("argmax");
      const auto k = s.Split(s.GetLoops(block)[1], {kAuto, 4});
      s.Rfactor(block, k[outer], axis);
      s.Parallel(k[outer]);
      ASSERT_TRUE(s.ok()) << s.status();
      EXPECT_THAT(ToString(s.program()), HasSubstr("V.rf"));
      EXPECT_THAT(ToString(s.program()), HasSubstr("P.rf"));
      ExpectSameResults(Picked(), s.program());
    }
  }
}

TEST(TwoResults, AreComputedWholeBelowALoopOfAReaderOfEitherOne) {
  Schedule s = Scheduled(Picked());
  s.ComputeAt(s.GetBlock("argmax"), s.GetLoops(s.GetBlock("reader"))[0]);
  ASSERT_TRUE(s.ok()) << s.status();
  ExpectSameResults(Picked(), s.program());
}

TEST(TwoResults, AreNotComputedBelowALoopWhereOneIsAResultOfTheProgram) {
  Schedule s = Scheduled(Picked(true));
  s.ComputeAt(s.GetBlock("argmax"), s.GetLoops(s.GetBlock("reader"))[0]);
  EXPECT_THAT(Refusal(s), HasSubstr("block \"argmax\" writes V, a result of the program"));
}

TEST(TwoResults, AreNotComputedWholeWhereOnlyAPartOfWhatTheyReadIs) {
  Schedule s = Scheduled(Picked());
  const auto i = s.Split(s.GetLoops(s.GetBlock("reader"))[0], {kAuto, 2});
  s.ComputeAt(s.GetBlock("argmax"), i[0]);
  s.ComputeAt(s.GetBlock("twice"), i[0]);
  ASSERT_TRUE(s.ok()) << s.status();
  ExpectSameResults(Picked(), s.program());
  s.ComputeAt(s.GetBlock("argmax"), i[1]);
  EXPECT_THAT(Refusal(s),
              HasSubstr("its readers do not need all that it makes, where block \"twice\" may not run"));
}

TEST(TwoResults, AreAccumulatedBelowALoop) {
  Schedule s = Scheduled(Picked());
  const Block block = s.GetBlock("argmax");
  const auto k = s.Split(s.GetLoops(block)[1], {kAuto, 4});
  s.AccumulateAt(block, k[0]);
  ASSERT_TRUE(s.ok()) << s.status();
  EXPECT_THAT(ToString(s.program()), HasSubstr("V[i], P[i] m0= (V.acc[k_0, i], P.acc[k_0, i])"));
  ExpectSameResults(Picked(), s.program());
}

TEST(TwoResults, AreNotRepeatedByAParallelLoopWhereEitherIsUsedOutside) {
  constexpr char kOverlapping[] = R"(
kiln.program v1
program overlapping
parameters X, P
buffer X: i32[4, 6] input
buffer P: i32[4] output
buffer V: i32[4] temporary
monoid m0 idempotent exact identity (i32(0), i32(0)) combine (max(l0, r0), max(l1, r1))

for o < 2 {
  for t < 3 {
    for k < 6 {
      block both {
        spatial i < 4 = o + t
        reduction k < 6 = k
        V[i], P[i] m0= (X[i, k], X[i, k])
        from compute 4
      }
    }
  }
}
)";
  const auto parsed = ParseProgram(kOverlapping);
  ASSERT_TRUE(parsed.ok()) << parsed.status();
  Schedule s = Scheduled(*parsed);
  s.Parallel(s.GetLoops(s.GetBlock("both"))[0]);
  EXPECT_THAT(Refusal(s), HasSubstr("iterations of loop o repeat what others reduce in block \"both\""));
}

TEST(TwoResults, OfOneInstanceStandAtOneIndex) {
  std::string text = ToString(Picked());
  const size_t at = text.find("P[i] m0=");
  ASSERT_NE(at, std::string::npos) << text;
  text.replace(at, 8, "P[0] m0=");
  const auto parsed = ParseProgram(text);
  EXPECT_THAT(std::string(parsed.status().message()),
              HasSubstr("its results have different shapes or indices"));
}

TEST(TwoResults, ArePartedMergedAndDecomposed) {
  Schedule s = Scheduled(Picked());
  const Block block = s.GetBlock("argmax");
  const auto loops = s.GetLoops(block);
  s.LoopPartition(loops[0], {2, kAuto});
  ASSERT_TRUE(s.ok()) << s.status();
  ExpectSameResults(Picked(), s.program());
  Schedule t = Scheduled(Picked());
  t.Merge(t.GetLoops(t.GetBlock("argmax"))[0], t.GetLoops(t.GetBlock("reader"))[0]);
  ASSERT_TRUE(t.ok()) << t.status();
  t.DecomposeReduction(t.GetBlock("argmax"), t.GetLoops(t.GetBlock("argmax"))[1]);
  ASSERT_TRUE(t.ok()) << t.status();
  ExpectSameResults(Picked(), t.program());
}

TEST(TwoResults, AreRefusedByNameWhereAStepNeedsOne) {
  const auto refused = [](auto step) {
    Schedule s = Scheduled(Picked());
    step(s, s.GetBlock("argmax"));
    return Refusal(s);
  };
  const auto several = HasSubstr("block \"argmax\" has several results");
  EXPECT_THAT(refused([](Schedule& s, Block b) { s.Reindex(b, -1); }), several);
  EXPECT_THAT(refused([](Schedule& s, Block b) { s.CacheWrite(b); }), several);
  EXPECT_THAT(refused([](Schedule& s, Block b) { s.PadEinsum(b, {4, 4}); }),
              HasSubstr("not a sum of products"));
  EXPECT_THAT(refused([](Schedule& s, Block b) { s.ComputeInline(b); }), HasSubstr("is a reduction"));
  EXPECT_THAT(refused([](Schedule& s, Block b) { s.DecomposePadding(b, s.GetLoops(b)[0]); }),
              HasSubstr("is not a plain store"));
}

}  // namespace
}  // namespace kiln
