// Tests the primitives merge, loop-partition and bind, fuse on loops of one iteration, and AxisUse of a fused loop.
#include "lang/analysis/loops.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "lang/program/builder.h"
#include "testing/same_results.h"

namespace kiln {
namespace {

using ::testing::HasSubstr;
constexpr auto kI32 = DType::kI32;

// Returns the program for i < 12: t[i] = 2 A[i];  for i < n: B[i] = t[scale * i + offset]
Program Chain(int64_t n, int64_t scale = 1, int64_t offset = 0) {
  Builder b("chain");
  const Id A = b.Input("A", kI32, {12}), t = b.Temporary("t", kI32, {12}), B = b.Output("B", kI32, {n});
  const IndexSum i = b.Iter(0);
  b.Compute("first", {{"i", 12}}, {t, {i}}, b.Add(b.Load(A, {i}), b.Load(A, {i})));
  b.Compute("second", {{"j", n}}, {B, {i}}, b.Load(t, {i * scale + IndexSum::Constant(offset)}));
  return b.Finish();
}

// Returns the program for i < 4: for r < 9: B[i] sum= (0 <= i + r - 2 < 6 ? A[i + r - 2] : 0)
Program Padded() {
  Builder b("padded");
  const Id A = b.Input("A", kI32, {6}), B = b.Output("B", kI32, {4});
  const IndexSum at = b.Iter(0) + b.Iter(1) + IndexSum::Constant(-2);
  b.Reduce("sum", {{"i", 4}, {"r", 9, IterKind::kReduction}}, Monoid::Kind::kSum, {B, {b.Iter(0)}},
           b.Within({{at, 6}}, b.Load(A, {at}), b.Integer(kI32, 0)));
  return b.Finish();
}

Loop LoopOf(Schedule& s, const char* block, int at = 0) { return s.GetLoops(s.GetBlock(block))[at]; }

TEST(AxisUse, SeesThroughAFusedLoopThatIsSplitAgain) {
  Schedule s = Scheduled(Padded());
  const Block sum = s.GetBlock("sum");
  const Loop fused = s.Fuse(s.GetLoops(sum));
  const auto use = [&](Loop loop) {
    const LoopUse use = AxisUse(s.program(), s.node(sum), s.node(loop));
    return std::pair(use.spatial, use.reduction);
  };
  EXPECT_EQ(use(fused), std::pair(true, true));
  const std::vector<Loop> parts = s.Split(fused, {4, 9});
  EXPECT_EQ(use(parts[0]), std::pair(true, false));
  EXPECT_EQ(use(parts[1]), std::pair(false, true));
}

TEST(Fuse, LoopsOfOneIterationDependOnNothing) {
  Builder b("rows");
  const Id A = b.Input("A", kI32, {4, 1}), C = b.Output("C", kI32, {4});
  b.Reduce("sum", {{"i", 4}, {"k", 1, IterKind::kReduction}}, Monoid::Kind::kSum, {C, {b.Iter(0)}},
           b.Load(A, {b.Iter(0), b.Iter(1)}));
  const Program rows = b.Finish();
  for (const bool turned : {false, true}) {
    Schedule s = Scheduled(rows);
    const Block sum = s.GetBlock("sum");
    if (turned) s.Reorder({s.GetLoops(sum)[1], s.GetLoops(sum)[0]});
    const Loop fused = s.Fuse(s.GetLoops(sum));
    EXPECT_FALSE(UseOf(s.program(), s.node(sum), s.node(fused)).reduction);
    s.Split(fused, {kAuto, 3});
    ASSERT_TRUE(s.ok()) << s.status();
    ExpectSameResults(rows, s.program());
  }
}

TEST(Merge, RunsTwoLoopsAsOne) {
  const Program before = Chain(12);
  Schedule s = Scheduled(before);
  s.Merge(LoopOf(s, "first"), LoopOf(s, "second"));
  ASSERT_TRUE(s.ok()) << s.status();
  EXPECT_THAT(ToString(s.program()), HasSubstr(R"(
for i < 12 {
  block first {
    spatial i < 12 = i
    t[i] = A[i] + A[i]
    from compute 2
  }
  block second {
    spatial j < 12 = i
)"));
  ExpectSameResults(before, s.program());
}

TEST(Merge, OfATaintedLoopIsTainted) {
  for (const char* drawn : {"first", "second"}) {
    Schedule s = Scheduled(Chain(12));
    for (const char* block : {"first", "second"}) {
      if (block == std::string(drawn)) {
        s.Split(LoopOf(s, block), {kAuto, s.SampleCategorical({3})});
      } else {
        s.Split(LoopOf(s, block), {kAuto, 3});
      }
    }
    const Loop merged = s.Merge(LoopOf(s, "first"), LoopOf(s, "second"));
    ASSERT_TRUE(s.ok()) << s.status();
    EXPECT_TRUE(s.program().loop(s.node(merged)).tainted) << drawn;
  }
}

TEST(Merge, ReadsOfEarlierIterationsMayRunInOneLoop) {
  // Refuses to merge the loops of t[i] = 2 A[i] and B[i] = t[11 - i], since B would read elements of t that later
  // iterations write.
  const Program before = Chain(12, -1, 11);
  Schedule s = Scheduled(before);
  s.Merge(LoopOf(s, "first"), LoopOf(s, "second"));
  EXPECT_THAT(
      Refusal(s),
      HasSubstr("block \"second\" reads t, which later iterations of loop i may write in block \"first\""));
}

TEST(Merge, AgreesWithTheInterpreterOnShiftedReads) {
  for (const int64_t offset : {0, 1, 2}) {
    for (const int64_t tile : {1, 2, 3, 5}) {
      const Program before = Chain(9, 1, offset);
      Schedule s = Scheduled(before);
      const auto a = s.Split(LoopOf(s, "first"), {kAuto, tile}),
                 b = s.Split(LoopOf(s, "second"), {kAuto, tile});
      if (s.ExtentOf(a[0]) != s.ExtentOf(b[0])) continue;
      s.Merge(a[0], b[0]);
      EXPECT_EQ(s.ok(), offset == 0) << offset << " " << tile;
      if (s.ok()) ExpectSameResults(before, s.program());
    }
  }
}

TEST(Merge, TellsIterationsApartByAllDimensions) {
  Builder b("plane");
  const Id A = b.Input("A", kI32, {4, 6}), t = b.Temporary("t", kI32, {4, 6}),
           B = b.Output("B", kI32, {4, 6});
  const std::vector<IndexSum> at{b.Iter(0), b.Iter(1)};
  b.Compute("first", {{"i", 4}, {"j", 6}}, {t, at}, b.Load(A, at));
  b.Compute("second", {{"i", 4}, {"j", 6}}, {B, at}, b.Load(t, at));
  const Program before = b.Finish();
  Schedule s = Scheduled(before);
  const Loop first = s.Fuse(s.GetLoops(s.GetBlock("first"))),
             second = s.Fuse(s.GetLoops(s.GetBlock("second")));
  s.Merge(first, second);
  ASSERT_TRUE(s.ok()) << s.status();
  ExpectSameResults(before, s.program());
}

TEST(Merge, RefusesLoopsThatDoNotFollowEachOther) {
  Schedule s = Scheduled(Chain(12));
  s.Merge(LoopOf(s, "second"), LoopOf(s, "first"));
  EXPECT_THAT(Refusal(s), HasSubstr("loop i does not follow loop j"));
}

TEST(Merge, RefusesOtherExtents) {
  Schedule s = Scheduled(Chain(6));
  s.Merge(LoopOf(s, "first"), LoopOf(s, "second"));
  EXPECT_THAT(Refusal(s), HasSubstr("loop i has extent 12, and loop j has 6"));
}

TEST(Merge, RefusesLoopsThatAreNotSerial) {
  Schedule s = Scheduled(Chain(12));
  const Loop first = LoopOf(s, "first");
  s.Parallel(first);
  s.Merge(first, LoopOf(s, "second"));
  EXPECT_THAT(Refusal(s), HasSubstr("loop i is parallel; only serial loops can be merged"));
}

TEST(Merge, RefusesAReductionThatWouldStartBeforeWhatItStartsFrom) {
  // Refuses to merge the loops over r of T = max A and B = T + ΣA, though A has one element: B reads its initial value
  // T at the entry of the loop.
  Builder b("start");
  const Id A = b.Input("A", kI32, {1}), T = b.Temporary("T", kI32, {}), B = b.Output("B", kI32, {});
  const std::vector<Builder::IterSpec> over{{"r", 1, IterKind::kReduction}};
  b.Reduce("first", over, Monoid::Kind::kMax, {T, {}}, b.Load(A, {b.Iter(0)}));
  b.Reduce("second", over, Monoid::Kind::kSum, {B, {}}, b.Load(A, {b.Iter(0)}), b.Load(T, {}));
  Schedule s = Scheduled(b.Finish());
  s.Merge(LoopOf(s, "first"), LoopOf(s, "second"));
  EXPECT_THAT(Refusal(s), HasSubstr("block \"second\" reads T at the loop's entry, which later iterations of "
                                    "loop r may write in block \"first\""));
}

TEST(LoopPartition, OfATaintedLoopIsTainted) {
  Schedule s = Scheduled(Chain(12));
  const auto tile = s.Split(LoopOf(s, "first"), {kAuto, s.SampleCategorical({3})});
  const auto parts = s.LoopPartition(tile[0], {1, kAuto});
  ASSERT_TRUE(s.ok()) << s.status();
  for (const Loop part : parts) EXPECT_TRUE(s.program().loop(s.node(part)).tainted);
}

TEST(LoopPartition, MakesGuardsKnownInTheMainPart) {
  const Program before = Chain(12);
  Schedule s = Scheduled(before);
  const auto tile = s.Split(LoopOf(s, "first"), {kAuto, 5});
  const auto parts = s.LoopPartition(tile[0], {kAuto, 1});
  ASSERT_TRUE(s.ok()) << s.status();
  ASSERT_EQ(parts.size(), 2u);
  EXPECT_THAT(ToString(s.program()), HasSubstr(R"(
for i_0_0 < 2 {
  for i_1 < 5 {
    block first {
      spatial i < 12 = i_0_0*5 + i_1
      t[i] = A[i] + A[i]
      from compute 2
    }
  }
}
for i_0_1 < 1 {
  for i_1 < 5 {
    block first.1 {
      spatial i < 12 = i_1 + 10
)"));
  ExpectSameResults(before, s.program());
}

TEST(LoopPartition, KeepsTheResultsOfThreePartsAndOfReductionsBelow) {
  const Program before = Padded();
  Schedule s = Scheduled(before);
  s.LoopPartition(LoopOf(s, "sum"), {1, kAuto, 1});
  ASSERT_TRUE(s.ok()) << s.status();
  ExpectSameResults(before, s.program());

  Schedule t = Scheduled(before);
  const Loop r = LoopOf(t, "sum", 1);
  t.DecomposeReduction(t.GetBlock("sum"), r);
  t.Unroll(t.LoopPartition(t.Split(r, {kAuto, 2})[0], {2, 1, 2})[1]);
  ASSERT_TRUE(t.ok()) << t.status();
  ExpectSameResults(before, t.program());
}

TEST(LoopPartition, RefusesToPartAReductionThatWouldStartAnew) {
  Schedule s = Scheduled(Padded());
  s.LoopPartition(LoopOf(s, "sum", 1), {2, kAuto});
  EXPECT_THAT(Refusal(s),
              HasSubstr("block \"sum\" starts its reduction at loop r, and each part would start it anew"));
}

TEST(LoopPartition, RefusesSizesThatDoNotAddUp) {
  Schedule s = Scheduled(Chain(12));
  s.LoopPartition(LoopOf(s, "first"), {4, 7});
  EXPECT_THAT(Refusal(s), HasSubstr("sizes 4 7 give 11, but loop i has extent 12"));
  Schedule t = Scheduled(Chain(12));
  t.LoopPartition(LoopOf(t, "first"), {kAuto, 12});
  EXPECT_THAT(Refusal(t), HasSubstr("sizes -1 12 give 12 and more, but loop i has extent 12"));
}

TEST(LoopPartition, RefusesALoopThatIsNotSerial) {
  Schedule s = Scheduled(Chain(12));
  s.Vectorize(LoopOf(s, "first"));
  s.LoopPartition(LoopOf(s, "first"), {4, 8});
  EXPECT_THAT(Refusal(s), HasSubstr("loop i is vectorized; only a serial loop can be partitioned"));
}

TEST(LoopPartition, RefusesCopiesThatWouldShareWhatLanesHaveForThemselves) {
  Builder b("outer");
  const Id A = b.Input("A", DType::kF32, {3, 4}), B = b.Input("B", DType::kF32, {2});
  const Id T = b.Temporary("T", DType::kF32, {3}), C = b.Output("C", DType::kF32, {3, 2});
  b.Reduce("row", {{"i", 3}, {"r", 4, IterKind::kReduction}}, Monoid::Kind::kSum, {T, {b.Iter(0)}},
           b.Load(A, {b.Iter(0), b.Iter(1)}));
  b.Compute("scale", {{"i", 3}, {"k", 2}}, {C, {b.Iter(0), b.Iter(1)}},
            b.Mul(b.Load(T, {b.Iter(0)}), b.Load(B, {b.Iter(1)})));
  const Program before = b.Finish();
  Schedule s = Scheduled(before);
  const auto loops = s.GetLoops(s.GetBlock("scale"));
  s.ComputeAt(s.GetBlock("row"), loops[1]);
  Schedule t = s;
  s.Vectorize(loops[1]);
  s.LoopPartition(loops[0], {1, 2});
  EXPECT_THAT(Refusal(s),
              HasSubstr("copies of loop k, which is vectorized, would share what each iteration has for "
                        "itself: block \"row\" writes T, which does not depend on loop k"));
  t.LoopPartition(loops[0], {1, 2});
  ASSERT_TRUE(t.ok()) << t.status();
  ExpectSameResults(before, t.program());
}

TEST(Bind, RunsIterationsAtOnce) {
  const Program before = Padded();
  Schedule s = Scheduled(before);
  const auto i = s.Split(LoopOf(s, "sum"), {2, 2});
  s.Bind(i[0], LoopKind::kBlockX);
  s.Bind(i[1], LoopKind::kThreadY);
  s.Bind(LoopOf(s, "sum", 2), LoopKind::kThreadX);
  ASSERT_TRUE(s.ok()) << s.status();
  EXPECT_THAT(ToString(s.program()),
              HasSubstr("for i_0 < 2 block-x {\n  for i_1 < 2 thread-y {\n    for r < 9 thread-x"));
  ExpectSameResults(before, s.program());
}

TEST(Bind, RefusesAReductionAcrossBlocks) {
  Schedule s = Scheduled(Padded());
  s.Bind(LoopOf(s, "sum", 1), LoopKind::kBlockX);
  EXPECT_THAT(Refusal(s), HasSubstr("loop r feeds a reduction of block \"sum\""));
}

TEST(Bind, RefusesAnAxisThatIsTakenAroundItOrBelow) {
  for (const int which : {0, 1}) {
    Schedule s = Scheduled(Chain(12));
    const auto i = s.Split(LoopOf(s, "first"), {3, 4});
    s.Bind(i[which], LoopKind::kThreadX);
    s.Bind(i[1 - which], LoopKind::kThreadX);
    EXPECT_THAT(Refusal(s),
                HasSubstr(which == 0 ? "loop i_0 around it is thread-x" : "loop i_1 below it is thread-x"));
  }
}

TEST(Bind, RefusesBlocksWithinThreads) {
  Schedule s = Scheduled(Chain(12));
  const auto i = s.Split(LoopOf(s, "first"), {3, 4});
  s.Bind(i[0], LoopKind::kThreadZ);
  s.Bind(i[1], LoopKind::kBlockX);
  EXPECT_THAT(Refusal(s), HasSubstr("loop i_0 around it is thread-z"));
}

TEST(Bind, RefusesALoopThatIsNotSerial) {
  Schedule s = Scheduled(Chain(12));
  s.Unroll(LoopOf(s, "first"));
  s.Bind(LoopOf(s, "first"), LoopKind::kThreadX);
  EXPECT_THAT(Refusal(s), HasSubstr("loop i is unrolled already"));
}

TEST(Bind, RefusesAnAxisThatThereIsNot) {
  Schedule s = Scheduled(Chain(12));
  s.Bind(LoopOf(s, "first"), LoopKind::kVectorized);
  EXPECT_EQ(s.status().code(), absl::StatusCode::kInvalidArgument);
  EXPECT_THAT(std::string(s.status().message()), HasSubstr("unknown axis \"vectorized\""));
}

}  // namespace
}  // namespace kiln
