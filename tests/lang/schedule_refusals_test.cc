// Tests that a schedule refuses primitives that would change the program's results, with the reason, and that similar
// legal primitives keep every bit of the results.
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "lang/base/check.h"
#include "lang/program/builder.h"
#include "lang/program/layout.h"
#include "lang/reference/interpreter.h"
#include "lang/text/text.h"
#include "testing/scheduled.h"
#include "tests/support/values.h"

namespace kiln {
namespace {

using ::testing::HasSubstr;

std::string Message(const Schedule& s) {
  EXPECT_EQ(s.status().code(), absl::StatusCode::kFailedPrecondition);
  return std::string(s.status().message());
}

// Returns the program for i < 12: for r < 9: t[i] sum= A[i, r];  for i < 12: B[i] = t[i]
Program SumAndCopy() {
  Builder b("sum");
  const Id A = b.Input("A", DType::kF64, {12, 9}), t = b.Temporary("t", DType::kF64, {12}),
           B = b.Output("B", DType::kF64, {12});
  const IndexSum i = b.Iter(0), r = b.Iter(1);
  b.Reduce("sum", {{"i", 12}, {"r", 9, IterKind::kReduction}}, Monoid::Kind::kSum, {t, {i}},
           b.Load(A, {i, r}));
  b.Compute("copy", {{"i", 12}}, {B, {i}}, b.Load(t, {i}));
  return b.Finish();
}

// Splits a loop of 12 or 9 iterations into tiles of 5 iterations, and the loop within a tile into tiles of 3: neither
// factor divides its extent. Returns the outermost loop.
Loop SplitBadlyTwice(Schedule& s, Loop loop) {
  const auto parts = s.Split(loop, {-1, 5});
  s.Split(parts[1], {-1, 3});
  return parts[0];
}

void ExpectSameResults(const Program& before, const Program& after) {
  std::vector<double> in;
  for (int64_t i = 0; i < BytesOf(before, before.parameters[0]) / 8; ++i)
    in.push_back(static_cast<double>(i % 7 - 3));
  const auto wanted = kiln::Run(before, {BytesOfValues(in)}), got = kiln::Run(after, {BytesOfValues(in)});
  ASSERT_TRUE(got.ok()) << got.status();
  EXPECT_EQ(*wanted, *got);
}

TEST(IndexSplit, MayOvershootALoopThatOnlyRepeatsStores) {
  Schedule s = Scheduled(SumAndCopy());
  s.Split(s.AddUnitLoop(s.GetBlock("copy")), {-1, 5});
  ASSERT_TRUE(s.ok()) << s.status();
  ExpectSameResults(SumAndCopy(), s.program());
}

TEST(IndexSplit, RefusesToOvershootALoopThatABlockBelowDoesNotDependOn) {
  Schedule s = Scheduled(SumAndCopy());
  const Loop unit = s.AddUnitLoop(s.GetBlock("sum"));
  s.Split(unit, {-1, 5});
  EXPECT_THAT(Message(s),
              HasSubstr("more than the extent 1 of loop u, on which block \"sum\" does not depend"));
}

TEST(IndexSplit, RefusesToOvershootALoopThatABlockBelowDependsOnAndItsReaderDoesNot) {
  // Refuses to split the loop u, which has one iteration, into 2: the block that sums depends on u, and the block that
  // copies its result does not.
  //    for i < 12: { for u < 1: for r < 9: t.acc[u, i] sum= A[i, r];  t[i] = t.acc[0, i] }
  Schedule s = Scheduled(SumAndCopy());
  const Block sum = s.GetBlock("sum");
  const Loop one = s.Split(s.GetLoops(sum)[1], {1, 9})[0];
  s.AccumulateAt(sum, one);
  s.Reindex(s.GetBlock("sum.combine"), 0);
  s.Split(one, {1, 2});
  EXPECT_THAT(Message(s),
              HasSubstr("more than the extent 1 of loop r_0, on which block \"t.acc.reindex.1\" does not "
                        "depend; block \"sum\" writes what it uses"));
}

TEST(IndexSplit, RefusesToOvershootALoopInWhichWhatIsReadIsWrittenAnew) {
  // Refuses to split the loop u, which has one iteration, by 2. Another iteration would read the new values of t.
  //    t = A;  for u < 1: for i < 8: { B[i] = t[i];  t[i] = A[i] + 1 }
  Program p = ParseProgram(R"(kiln.program v1
program anew
parameters A, B
buffer A: f64[8] input
buffer t: f64[8] temporary
buffer B: f64[8] output
for i < 8 { block first { spatial o < 8 = i t[o] = A[o] } }
for u < 1 {
  for i < 8 {
    block between { spatial o < 8 = i B[o] = t[o] }
    block again { spatial o < 8 = i t[o] = A[o] + f64(1) }
  }
}
)")
                  .value();
  Schedule s = Scheduled(std::move(p));
  s.Split(s.GetLoops(s.GetBlock("between"))[0], {2});
  EXPECT_THAT(Message(s),
              HasSubstr("block \"between\" does not depend; block \"again\" writes what it uses"));
}

TEST(IndexSplit, RefusesToInitializeAgainWhatIsReduced) {
  // Refuses to split the loop i by 2: no store depends on i, so that another iteration would set t to 0 again.
  //    for i < 1: { t[0] = 0;  for r < 4: t[0] += A[0, r] }
  Program p = ParseProgram(R"(kiln.program v1
program init
parameters A, t
buffer A: f64[1, 4] input
buffer t: f64[1] output
for i < 1 {
  block init { spatial o < 1 = 0 t[o] = f64(0) }
  for r < 4 { block sum { spatial o < 1 = i reduction k < 4 = r t[o] accumulate sum= A[o, k] } }
}
)")
                  .value();
  Schedule s = Scheduled(std::move(p));
  s.Split(s.GetLoops(s.GetBlock("sum"))[0], {1, 2});
  EXPECT_THAT(Message(s),
              HasSubstr("more than the extent 1 of loop i, on which block \"init\" does not depend"));
}

// Returns the program of SumAndCopy with a loop u around the sum that only repeats it:
//    for u < 2: for i < 12: for r < 9: t[i] sum= A[i, r];  for i < 12: B[i] = t[i]
Program Repeated() {
  Program p = SumAndCopy();
  const Id i = p.nodes[kRoot].first, u = p.AddLoop("u", 2);
  p.Replace(i, u);
  p.Append(u, i);
  return p;
}

TEST(Reorder, RefusesToReadWhatIsNotWrittenYet) {
  // Refuses to interchange the loops of this loop in tiles of 4, since iteration i reads what iteration i - 1 wrote:
  //    for i < 8: { t[i] = A[i];  B[i] = i > 0 ? t[i - 1] : 0 }
  Builder b("before");
  const Id A = b.Input("A", DType::kF64, {8}), t = b.Temporary("t", DType::kF64, {8}),
           B = b.Output("B", DType::kF64, {8});
  const IndexSum i = b.Iter(0), before = i + IndexSum::Constant(-1);
  b.Compute("make", {{"i", 8}}, {t, {i}}, b.Load(A, {i}));
  b.Compute("use", {{"i", 8}}, {B, {i}},
            b.Within({{before, 8}}, b.Load(t, {before}), b.Float(DType::kF64, 0)));
  Schedule s = Scheduled(b.Finish());
  const auto parts =
      s.Split(s.Merge(s.GetLoops(s.GetBlock("make"))[0], s.GetLoops(s.GetBlock("use"))[0]), {2, 4});
  ASSERT_TRUE(s.ok()) << s.status();
  s.Reorder({parts[1], parts[0]});
  EXPECT_THAT(Message(s), HasSubstr("iterations of loop i_0 read of t what earlier iterations write"));
}

TEST(Reorder, RefusesToMoveARepetitionIntoAReduction) {
  Schedule s = Scheduled(Repeated());
  const auto loops = s.GetLoops(s.GetBlock("sum"));
  s.Reorder({loops[2], loops[0]});
  EXPECT_THAT(Message(s), HasSubstr("may run an instance of block \"sum\" more than once"));
}

// Reorder refuses a loop that is given twice, by two handles. The status is a failed precondition and not an invalid
// argument, since it may depend on decisions whether two handles name the same loop.
TEST(Reorder, RefusesALoopThatIsGivenTwice) {
  Schedule s = Scheduled(SumAndCopy());
  const auto before = s.GetLoops(s.GetBlock("sum")), after = s.GetLoops(s.GetBlock("sum"));
  s.Reorder({before[1], after[0], after[1]});
  EXPECT_EQ(s.status().code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_THAT(Message(s), HasSubstr("is given twice"));
}

TEST(Reorder, MovesReductionsOutsideOfTheLoopsThatTheInstancesDependOn) {
  Schedule s = Scheduled(SumAndCopy());
  const auto loops = s.GetLoops(s.GetBlock("sum"));
  const auto parts = s.Split(loops[0], {-1, 5});
  s.Reorder({loops[1], parts[1], parts[0]});
  ASSERT_TRUE(s.ok()) << s.status();
  ExpectSameResults(SumAndCopy(), s.program());
}

TEST(Fuse, RefusesToFuseARepetitionIntoAReduction) {
  Schedule s = Scheduled(Repeated());
  const auto loops = s.GetLoops(s.GetBlock("sum"));
  s.Fuse({loops[0], loops[1], loops[2]});
  EXPECT_THAT(Message(s), HasSubstr("may run an instance of block \"sum\" more than once"));
}

TEST(DecomposeReduction, RefusesToInitializeOutsideOfARepetition) {
  Schedule s = Scheduled(Repeated());
  const Block sum = s.GetBlock("sum");
  s.DecomposeReduction(sum, s.GetLoops(sum)[0]);
  EXPECT_THAT(Message(s), HasSubstr("may run an instance of block \"sum\" more than once"));
}

TEST(AccumulateAt, CombinesNoPartsThatAreEmpty) {
  Schedule s = Scheduled(SumAndCopy());
  const Block sum = s.GetBlock("sum");
  const auto parts = s.Split(s.GetLoops(sum)[1], {4, 4});  // 9 of 16: the last tile is empty
  s.AccumulateAt(sum, parts[0]);
  ASSERT_TRUE(s.ok()) << s.status();
  ExpectSameResults(SumAndCopy(), s.program());
}

TEST(AccumulateAt, StillReducesWhatNoLoopReduces) {
  Builder b("most");  // the identity, too, is an operand: of NaN alone it is the result
  const Id A = b.Input("A", DType::kF64, {3, 1}), B = b.Output("B", DType::kF64, {3});
  b.Reduce("most", {{"i", 3}, {"r", 1, IterKind::kReduction}}, Monoid::Kind::kMax, {B, {b.Iter(0)}},
           b.Load(A, {b.Iter(0), b.Iter(1)}));
  Schedule s = Scheduled(b.Finish());
  const Block most = s.GetBlock("most");
  s.AccumulateAt(most, s.Fuse(s.GetLoops(most)));
  ASSERT_TRUE(s.ok()) << s.status();
  EXPECT_THAT(ToString(s.program()), HasSubstr("B[i] max= B.acc[i]"));
}

TEST(AccumulateAt, RefusesAPartWithGaps) {
  Schedule s = Scheduled(SumAndCopy());
  const Block sum = s.GetBlock("sum");
  const auto loops = s.GetLoops(sum);
  const auto parts = s.Split(loops[0], {3, 4});
  s.Reorder({parts[1], loops[1], parts[0]});  // i = 4*i_0 + i_1, with i_0 innermost
  s.AccumulateAt(sum, loops[1]);
  EXPECT_THAT(Message(s), HasSubstr("one iteration of loop r has a part with gaps of iter i"));
}

TEST(AccumulateAt, RefusesWhenTheDestinationIsReadBeforeTheEnd) {
  Schedule s = Scheduled(SumAndCopy());
  const Block sum = s.GetBlock("sum"), copy = s.GetBlock("copy");
  const Loop unit = s.AddUnitLoop(s.GetLoops(sum)[0]);
  s.ReverseComputeAt(copy, s.GetLoops(sum)[1]);
  s.AccumulateAt(sum, unit);
  EXPECT_THAT(Message(s), HasSubstr("block \"copy\" reads the destination before the end of loop u"));
}

TEST(ReverseComputeAt, RefusesWhatIsWrittenWithGaps) {
  Schedule s = Scheduled(SumAndCopy());
  const Block sum = s.GetBlock("sum"), copy = s.GetBlock("copy");
  const auto loops = s.GetLoops(sum);
  const auto parts = s.Split(loops[0], {3, 4});
  s.Reorder({parts[1], parts[0]});
  s.ReverseComputeAt(copy, parts[1]);
  EXPECT_THAT(Message(s), HasSubstr("block \"sum\" writes with gaps in one iteration of loop i_1"));
}

TEST(Parallel, RefusesIterationsThatReduceTheSameElements) {
  // Refuses to run in parallel a loop i that reduces t[i] and t[i + 1], since neighboring iterations reduce the same
  // element. The block that computed u in this loop has moved on to its reader:
  //    for i < 8: { t[i] = Σ_r A[i, r];  t[i + 1] = Σ_r A[i + 1, r] }
  //    for i < 8: { u[i] = t[i] + t[i + 1];  B[i] = u[i] }
  Builder b("halo");
  const Id A = b.Input("A", DType::kF64, {9, 3}), t = b.Temporary("t", DType::kF64, {9}),
           u = b.Temporary("u", DType::kF64, {8}), B = b.Output("B", DType::kF64, {8});
  const IndexSum i = b.Iter(0), r = b.Iter(1);
  b.Reduce("sum", {{"i", 9}, {"r", 3, IterKind::kReduction}}, Monoid::Kind::kSum, {t, {i}},
           b.Load(A, {i, r}));
  IndexSum next = i;
  next.offset = 1;
  b.Compute("pair", {{"i", 8}}, {u, {i}}, b.Add(b.Load(t, {i}), b.Load(t, {next})));
  b.Compute("copy", {{"i", 8}}, {B, {i}}, b.Load(u, {i}));
  Schedule s = Scheduled(b.Finish());
  const Block pair = s.GetBlock("pair");
  const Loop loop = s.GetLoops(pair)[0];
  s.ComputeAt(s.GetBlock("sum"), loop);
  s.ComputeAt(pair, s.GetLoops(s.GetBlock("copy"))[0]);
  s.Parallel(loop);
  EXPECT_THAT(Message(s), HasSubstr("iterations of loop i repeat what others reduce in block \"sum\""));
}

// Returns a schedule of the program P[i] = i > 0 ? A[i - 1] : 0 for i < 4, which a loop `again` repeats `times` times.
// One block fills P with 0, and another then copies A into it.
Schedule FilledAndCopied(int64_t times) {
  Builder b("pad");
  const Id A = b.Input("A", DType::kF64, {3}), P = b.Output("P", DType::kF64, {4});
  IndexSum before = b.Iter(0);
  before.offset = -1;
  b.Compute("pad", {{"i", 4}}, {P, {b.Iter(0)}},
            b.Within({{before, 3}}, b.Load(A, {before}), b.Float(DType::kF64, 0)));
  Program p = b.Finish();
  const Id nest = p.nodes[kRoot].first, again = p.AddLoop("again", times);
  p.Replace(nest, again);
  p.Append(again, nest);
  Schedule s = Scheduled(p);
  const Block pad = s.GetBlock("pad");
  s.Fuse(s.GetLoops(pad));
  s.DecomposePadding(pad, s.AddUnitLoop(pad));
  return s;
}

TEST(Parallel, RefusesIterationsThatStoreAgainWhatTwoBlocksStore) {
  for (const int64_t times : {1, 2}) {
    Schedule s = FilledAndCopied(times);
    s.Parallel(s.GetLoops(s.GetBlock("pad"))[0]);
    EXPECT_EQ(s.ok(), times == 1) << s.status();
    if (times == 2) EXPECT_THAT(Message(s), HasSubstr("repeat what others write in block \"pad.fill\""));
  }
}

TEST(ComputeAt, MakesAtLeastWhatImperfectTilesRead) {
  Schedule s = Scheduled(SumAndCopy());
  const Block sum = s.GetBlock("sum"), copy = s.GetBlock("copy");
  s.ComputeAt(sum, SplitBadlyTwice(s, s.GetLoops(copy)[0]));
  ASSERT_TRUE(s.ok()) << s.status();
  ExpectSameResults(SumAndCopy(), s.program());
}

TEST(CacheWrite, CopiesBeforeTheNearestReader) {
  Builder b("two-readers");
  const Id A = b.Input("A", DType::kF64, {12}), t = b.Temporary("t", DType::kF64, {12}),
           B = b.Output("B", DType::kF64, {12}), C = b.Output("C", DType::kF64, {12});
  const IndexSum i = b.Iter(0);
  b.Compute("make", {{"i", 12}}, {t, {i}}, b.Load(A, {i}));
  b.Compute("near", {{"i", 12}}, {B, {i}}, b.Load(t, {i}));
  b.Compute("far", {{"i", 12}}, {C, {i}}, b.Load(t, {i}));
  const Program p = b.Finish();
  Schedule s = Scheduled(p);
  const Block block = s.GetBlock("make");
  s.ReverseComputeAt(s.GetBlock("near"), s.GetLoops(block)[0]);
  s.CacheWrite(block);
  ASSERT_TRUE(s.ok()) << s.status();
  ExpectSameResults(p, s.program());
}

TEST(CacheWrite, LeavesNoParallelLoopWithWhatNobodyReads) {
  // CacheWrite of the sum puts the copy of t into the parallel loop `again`, and not behind it, although no block reads
  // t.
  //    for again < 2, in parallel: for r < 4: t[] sum= A[r];  B[] = A[0]
  Program p = ParseProgram(R"(kiln.program v1
program unread
parameters A, B
buffer A: f64[4] input
buffer t: f64[] temporary
buffer B: f64[] output
for again < 2 parallel {
  for r < 4 { block sum { reduction k < 4 = r t[] sum= A[k] } }
}
block copy { B[] = A[0] }
)")
                  .value();
  Schedule s = Scheduled(std::move(p));
  const Block copy = s.CacheWrite(s.GetBlock("sum"));
  ASSERT_TRUE(s.ok()) << s.status();
  EXPECT_EQ(s.GetLoops(copy).size(), 1u);
}

TEST(CacheWrite, RefusesToCopyWhatIsNotWritten) {
  Schedule s = Scheduled(SumAndCopy());
  const Block copy = s.GetBlock("copy");
  SplitBadlyTwice(s, s.GetLoops(copy)[0]);
  s.CacheWrite(copy);
  EXPECT_THAT(Message(s), HasSubstr("imperfect at more than their last level"));
}

// A schedule whose last tile is empty: it sums 12 rows in 4 tiles of 4 rows, and copies the sums of each tile.
//    for i_0 < 4: { for i_1 < 4: sum of row 4 * i_0 + i_1;  copy of the tile }
struct EmptyTile {
  EmptyTile() {
    i_0 = s.Split(s.GetLoops(sum)[0], {4, 4})[0];
    s.ReverseComputeAt(copy, i_0);
    KILN_CHECK(s.ok(), s.status().ToString());
  }
  Schedule s = Scheduled(SumAndCopy());
  Block sum = s.GetBlock("sum"), copy = s.GetBlock("copy");
  Loop i_0;
};

TEST(CacheWrite, RefusesToCopyATileThatMayBeEmpty) {
  EmptyTile e;
  e.s.CacheWrite(e.sum);
  EXPECT_THAT(Message(e.s), HasSubstr("some tiles of block \"sum\" are empty"));
}

TEST(CacheRead, RefusesToCopyATileThatMayBeEmpty) {
  EmptyTile e;
  e.s.CacheRead(e.copy, 0);
  EXPECT_THAT(Message(e.s), HasSubstr("block \"copy\" reads with gaps what is written in loop i_0"));
}

TEST(ComputeAt, RefusesATileThatMayBeEmptyWhereItsProducersAreInTheNest) {
  Builder b("chain");
  const Id A = b.Input("A", DType::kF64, {2, 12}), t = b.Temporary("t", DType::kF64, {2, 12}),
           u = b.Temporary("u", DType::kF64, {2, 12}), B = b.Output("B", DType::kF64, {2, 12});
  const IndexSum o = b.Iter(0), i = b.Iter(1);
  b.Compute("first", {{"o", 2}, {"i", 12}}, {t, {o, i}}, b.Load(A, {o, i}));
  b.Compute("second", {{"o", 2}, {"i", 12}}, {u, {o, i}}, b.Load(t, {o, i}));
  b.Compute("third", {{"o", 2}, {"i", 12}}, {B, {o, i}}, b.Load(u, {o, i}));
  Schedule s = Scheduled(b.Finish());
  const auto loops = s.GetLoops(s.GetBlock("third"));
  s.ComputeAt(s.GetBlock("second"), loops[0]);
  s.ComputeAt(s.GetBlock("first"), loops[0]);
  s.ComputeAt(s.GetBlock("second"), s.Split(loops[1], {4, 4})[0]);
  EXPECT_THAT(Message(s), HasSubstr("block \"third\" reads with gaps, where block \"first\" may not run"));
}

TEST(ReverseComputeAt, RefusesATileThatMayBeEmptyWhereItsElementsDoNotShowIt) {
  Builder b("one-element");
  const Id A = b.Input("A", DType::kF64, {12}), t = b.Temporary("t", DType::kF64, {12}),
           B = b.Output("B", DType::kF64, {2});
  b.Compute("make", {{"i", 12}}, {t, {b.Iter(0)}}, b.Load(A, {b.Iter(0)}));
  b.Compute("read", {{"j", 2}}, {B, {b.Iter(0)}}, b.Load(t, {IndexSum::Constant(0)}));
  Schedule s = Scheduled(b.Finish());
  const auto parts = s.Split(s.GetLoops(s.GetBlock("make"))[0], {4, 4});
  s.ReverseComputeAt(s.GetBlock("read"), parts[0]);
  EXPECT_THAT(Message(s),
              HasSubstr("some tiles of block \"make\" are empty, which its elements do not show"));
}

TEST(ReverseComputeAt, RefusesTilesThatAreImperfectAtSeveralLevels) {
  Schedule s = Scheduled(SumAndCopy());
  const Block sum = s.GetBlock("sum");
  s.ReverseComputeAt(s.GetBlock("copy"), SplitBadlyTwice(s, s.GetLoops(sum)[0]));
  EXPECT_THAT(Message(s),
              HasSubstr("the tiles of block \"sum\" are imperfect at more than their last level"));
}

TEST(AccumulateAt, RefusesTilesThatAreImperfectAtSeveralLevels) {
  Schedule s = Scheduled(SumAndCopy());
  const Block sum = s.GetBlock("sum");
  s.AccumulateAt(sum, SplitBadlyTwice(s, s.GetLoops(sum)[1]));
  EXPECT_THAT(Message(s),
              HasSubstr("the tiles of block \"sum\" are imperfect at more than their last level"));
}

TEST(CacheRead, RefusesTilesThatAreImperfectAtSeveralLevels) {
  Schedule s = Scheduled(SumAndCopy());
  const Block sum = s.GetBlock("sum"), copy = s.GetBlock("copy");
  s.ReverseComputeAt(copy, s.GetLoops(sum)[0]);
  const Loop i = s.GetLoops(copy)[0];
  SplitBadlyTwice(s, i);
  s.CacheRead(copy, 0);
  EXPECT_THAT(Message(s), HasSubstr("block \"copy\" reads with gaps what is written in loop"));
}

TEST(CacheRead, CopiesAfterTheNearestWriter) {
  Schedule s = Scheduled(SumAndCopy());
  const Block sum = s.GetBlock("sum"), copy = s.GetBlock("copy");
  const auto loops = s.GetLoops(sum);
  s.ReverseComputeAt(copy, loops[0]);
  s.AddUnitLoop(loops[0]);
  s.DecomposeReduction(sum, loops[0]);  // one writer is outside of the reader's nest, one inside
  s.CacheRead(copy, 0);
  ASSERT_TRUE(s.ok()) << s.status();
  ExpectSameResults(SumAndCopy(), s.program());
}

// Returns the program T[i] = A[i];  for again < 2: { B[i] = T[i];  B[i] += A[i] }, with a loop i < 12 around each
// block.
Program StartsAgain() {
  return ParseProgram(R"(kiln.program v1
program again
parameters A, B
buffer A: f64[12] input
buffer T: f64[12] temporary
buffer B: f64[12] output
for i < 12 { block make { spatial o < 12 = i T[o] = A[o] } }
for again < 2 {
  for i < 12 { block start { spatial o < 12 = i B[o] = T[o] } }
  for i < 12 {
    for r < 1 { block sum { spatial o < 12 = i reduction k < 1 = r B[o] accumulate sum= A[o + k] } }
  }
}
)")
      .value();
}

constexpr char kRepeats[] = "iterations of loop again repeat it before block \"sum\", which writes B too";

TEST(ReverseComputeAt, RefusesToLeaveALoopThatRepeatsItBeforeAnotherWriter) {
  Schedule s = Scheduled(StartsAgain());
  s.ReverseComputeAt(s.GetBlock("start"), s.GetLoops(s.GetBlock("make"))[0]);
  EXPECT_THAT(Message(s), HasSubstr(kRepeats));
}

TEST(ReverseComputeInline, RefusesToLeaveALoopThatRepeatsItBeforeAnotherWriter) {
  Schedule s = Scheduled(StartsAgain());
  s.ReverseComputeInline(s.GetBlock("start"));
  EXPECT_THAT(Message(s), HasSubstr(kRepeats));
}

TEST(Fuse, KeepsIndicesExpressibleWhenTheFusedLoopIsSplitImperfectly) {
  Schedule s = Scheduled(SumAndCopy());
  const Block sum = s.GetBlock("sum");
  s.Split(s.Fuse(s.GetLoops(sum)), {-1, 27});
  ASSERT_TRUE(s.ok()) << s.status();
  ExpectSameResults(SumAndCopy(), s.program());
}

}  // namespace
}  // namespace kiln
