#include "lang/analysis/placement.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "lang/program/builder.h"
#include "lang/schedule/schedule.h"
#include "lang/text/text.h"
#include "testing/same_results.h"

namespace kiln {
namespace {

TEST(ComputeAt, RefusesToMakeInitialValuesBelowTheReduction) {
  // The block `add` may move into loop i, but not into loop k, before which `sum` reads its initial value B[i]:
  //    B[i] = x[i] + 1;  y[i] = B[i] + Σ_k A[i, k]
  Builder b("sums");
  const Id a = b.Input("A", DType::kF32, {8, 4}), x = b.Input("x", DType::kF32, {8}),
           y = b.Output("y", DType::kF32, {8});
  const Id start = b.Temporary("B", DType::kF32, {8});
  const IndexSum i = Builder::Iter(0), k = Builder::Iter(1);
  const Id add = b.Compute("add", {{"i", 8}}, {start, {i}}, b.Add(b.Load(x, {i}), b.Float(DType::kF32, 1)));
  const Id sum = b.Reduce("sum", {{"i", 8}, {"k", 4, IterKind::kReduction}}, Monoid::Kind::kSum, {y, {i}},
                          b.Load(a, {i, k}), b.Load(start, {i}));
  const Program p = b.Finish();
  const Id k_loop = p.nodes[sum].parent, i_loop = p.nodes[k_loop].parent;
  EXPECT_TRUE(CheckComputeAt(p, add, i_loop).ok());
  EXPECT_EQ(CheckComputeAt(p, add, k_loop).message(), "block \"sum\" starts from it, before loop k");
}

TEST(CacheRead, RefusesToCopyWhatIsNotMadeYetBelowALoop) {
  // Refuses to copy T for the sum, in which r runs in a tile of 4. One iteration of i computes 3 elements of T, and the
  // copy for the tile would read 4.
  //    for i < 8: { T[i .. i + 2] = A[i .. i + 2];  C[i] = Σ_{r < 3} T[i + r] }
  Builder b("window");
  const Id a = b.Input("A", DType::kF32, {10}), c = b.Output("C", DType::kF32, {8}),
           made = b.Temporary("T", DType::kF32, {10});
  const IndexSum i = Builder::Iter(0), r = Builder::Iter(1);
  b.Compute("make", {{"i", 10}}, {made, {i}}, b.Load(a, {i}));
  b.Reduce("sum", {{"i", 8}, {"r", 3, IterKind::kReduction}}, Monoid::Kind::kSum, {c, {i}},
           b.Load(made, {i + r}));
  RandomDice dice(Engine({1}));
  RandomChooser chooser(dice);
  Schedule s(b.Finish(), Target(), chooser);
  const Block sum = s.GetBlock("sum");
  const std::vector<Loop> loops = s.GetLoops(sum);
  s.ComputeAt(s.GetBlock("make"), loops[0]);
  s.Split(loops[1], {1, 4});
  ASSERT_TRUE(s.ok()) << s.status();
  s.CacheRead(sum, 0);
  EXPECT_THAT(s.status().message(),
              testing::HasSubstr("block \"sum\" reads with gaps what is written in loop i"));
}

TEST(ReverseComputeAt, RefusesToFollowOneOfTheBlocksThatShareTheWork) {
  Builder b("parts");
  const Id a = b.Input("A", DType::kF32, {8}), t = b.Temporary("t", DType::kF32, {8}),
           c = b.Output("C", DType::kF32, {8});
  b.Compute("make", {{"i", 8}}, {t, {b.Iter(0)}}, b.Load(a, {b.Iter(0)}));
  b.Compute("copy", {{"i", 8}}, {c, {b.Iter(0)}}, b.Load(t, {b.Iter(0)}));
  Schedule s = Scheduled(b.Finish());
  const auto parts = s.LoopPartition(s.GetLoops(s.GetBlock("make"))[0], {3, 5});
  s.ReverseComputeAt(s.GetBlock("copy"), parts[1]);
  EXPECT_THAT(s.status().message(), testing::HasSubstr("its iter i also runs where block"));
}

TEST(ComputeAt, RefusesToCopyElementsBetweenThoseThatAreWritten) {
  Builder b("apart");
  const Id a = b.Input("A", DType::kF32, {2}), t = b.Temporary("T", DType::kF32, {4}),
           c = b.Output("C", DType::kF32, {2});
  const IndexSum i = b.Iter(0);
  b.Compute("spread", {{"i", 1}}, {t, {i * 2}}, b.Load(a, {i}));
  b.Compute("use", {{"i", 1}}, {c, {i}}, b.Load(t, {i * 2}));
  Schedule s = Scheduled(b.Finish());
  const Block use = s.GetBlock("use");
  const Block copy = s.CacheRead(use, 0);
  const std::vector<Loop> parts = s.Split(s.GetLoops(use)[0], {1, 2});
  ASSERT_TRUE(s.ok()) << s.status();
  s.ComputeAt(copy, parts[0]);
  EXPECT_THAT(s.status().message(),
              testing::HasSubstr("reads with gaps, where block \"spread\" may not run"));
}

TEST(ComputeAt, CopiesElementsBetweenThoseThatAreReadWhereAllAreMadeBefore) {
  // Moves a copy of T into tiles of 2 of the reader, C[i] = T[2 i], where it also copies elements between those that
  // are read. This is allowed if T[i] = A[i] writes all 9 elements before, and refused if it writes only 6 of them.
  for (const int64_t made : {9, 6}) {
    Builder b("every other");
    const Id a = b.Input("A", DType::kF32, {9}), t = b.Temporary("T", DType::kF32, {9}),
             c = b.Output("C", DType::kF32, {4});
    const IndexSum i = b.Iter(0);
    b.Compute("make", {{"i", made}}, {t, {i}}, b.Load(a, {i}));
    b.Compute("use", {{"i", made == 9 ? 4 : 3}}, {c, {i}}, b.Load(t, {i * 2}));
    const Program p = b.Finish();
    Schedule s = Scheduled(p);
    const Block use = s.GetBlock("use");
    const Block copy = s.CacheRead(use, 0);
    const std::vector<Loop> parts = s.Split(s.GetLoops(use)[0], {kAuto, 2});
    ASSERT_TRUE(s.ok()) << s.status();
    s.ComputeAt(copy, parts[0]);
    EXPECT_EQ(s.ok(), made == 9) << s.status();  // with 6, T[6] to T[8] are never written
    if (s.ok()) ExpectSameResults(p, s.program());
  }
}

TEST(ComputeAt, RefusesToMakeWhatItsReadersDoNotNeedFromWhatIsNotMadeYet) {
  // Refuses to compute all of `apart` below a loop within loop i: `use` reads only apart[2 i], and not all of t is
  // computed yet.
  //    for i < 4: { t[i] = A[i];  apart[2 i] = t[i];  for u < 1: B[i] = apart[2 i] }
  Builder b("spread");
  const auto type = DType::kI32;
  const Id A = b.Input("A", type, {4}), t = b.Temporary("t", type, {4}), B = b.Output("B", type, {4}),
           apart = b.Temporary("apart", type, {8});
  const IndexSum i = b.Iter(0);
  b.Compute("make", {{"i", 4}}, {t, {i}}, b.Load(A, {i}));
  b.Compute("spread", {{"i", 4}}, {apart, {i * 2}}, b.Load(t, {i}));
  b.Compute("use", {{"i", 4}}, {B, {i}}, b.Load(apart, {i * 2}));
  Schedule s = Scheduled(b.Finish());
  const auto loop = [&](const char* block) { return s.GetLoops(s.GetBlock(block))[0]; };
  s.Merge(loop("make"), s.Merge(loop("spread"), loop("use")));
  ASSERT_TRUE(s.ok()) << s.status();
  s.AddUnitLoop(s.GetBlock("use"));
  s.ComputeAt(s.GetBlock("spread"), s.GetLoops(s.GetBlock("use"))[1]);
  EXPECT_THAT(Refusal(s),
              ::testing::HasSubstr("its readers do not need all that it makes, where block \"make\" may "
                                   "not run"));
}

TEST(ReverseComputeInline, RefusesABlockThatReadsTwoElements) {
  Builder b("both");
  const Id A = b.Input("A", DType::kF32, {8}), t = b.Temporary("t", DType::kF32, {8}),
           B = b.Output("B", DType::kF32, {8});
  const IndexSum i = b.Iter(0);
  b.Compute("make", {{"i", 8}}, {t, {i}}, b.Load(A, {i}));
  b.Compute("add", {{"i", 8}}, {B, {i}}, b.Add(b.Load(t, {i}), b.Load(t, {i * -1 + IndexSum::Constant(7)})));
  Schedule s = Scheduled(b.Finish());
  s.ReverseComputeInline(s.GetBlock("add"));
  EXPECT_THAT(Refusal(s), testing::HasSubstr("it does not read t element by element"));
}

// Refuses to inline the block that initializes rows 2 to 4 of C = A + sums into the copy of A that it reads. The copy
// has all 5 rows, so that it would initialize rows 0 and 1 again, after their sums.
TEST(ReverseComputeInline, RefusesAPartOfALoopIfOthersWriteItsBuffer) {
  const absl::StatusOr<Program> p = ParseProgram(R"(kiln.program v1
program sums
parameters A, C
buffer A: f64[5] input
buffer C: f64[5] output

for i < 5 {
  for r < 1 {
    block sum {
      spatial i < 5 = i
      reduction r < 1 = r
      C[i] sum= A[i + r] initial A[i]
    }
  }
}
)");
  ASSERT_TRUE(p.ok()) << p.status();
  Schedule s = Scheduled(*p);
  const std::vector<Loop> loops = s.GetLoops(s.GetBlock("sum"));
  s.DecomposeReduction(s.GetBlock("sum"), loops[1]);
  s.LoopPartition(loops[0], {2, 3});
  s.Reindex(s.GetBlock("sum.init.1"), 0);
  s.ReverseComputeInline(s.GetBlock("sum.init.1"));
  EXPECT_THAT(Refusal(s), testing::HasSubstr("its loops run a part of it, and other blocks write C too"));
}

TEST(ReverseComputeAt, RefusesToReadAnElementThatOneIterationMakesInAll) {
  Builder b("pick");
  const Id a = b.Input("A", DType::kF32, {4}), t = b.Temporary("T", DType::kF32, {4}),
           c = b.Output("C", DType::kF32, {1});
  const Id make = b.Compute("make", {{"i", 4}}, {t, {b.Iter(0)}}, b.Load(a, {b.Iter(0)}));
  const Id pick = b.Compute("pick", {{"i", 1}}, {c, {b.Iter(0)}}, b.Load(t, {IndexSum::Constant(2)}));
  const Program p = b.Finish();
  EXPECT_EQ(
      CheckReverseComputeAt(p, pick, p.nodes[make].parent).message(),
      "it reads T at 2 in dimension 0, which block \"make\" does not write in each iteration of loop i");
}

TEST(ComputeInline, RefusesToLeaveAParallelLoopWhoseIterationsRepeatAReduction) {
  Builder b("shared");
  const Id a = b.Input("A", DType::kF32, {4, 8}), t = b.Temporary("t", DType::kF32, {4}),
           u = b.Temporary("u", DType::kF32, {2, 4}), c = b.Output("C", DType::kF32, {2, 4});
  const IndexSum i = b.Iter(0), j = b.Iter(1);
  b.Reduce("sum", {{"i", 4}, {"r", 8, IterKind::kReduction}}, Monoid::Kind::kSum, {t, {i}},
           b.Load(a, {i, j}));
  b.Compute("twice", {{"i", 2}, {"j", 4}}, {u, {i, j}}, b.Load(t, {j}));
  b.Compute("copy", {{"i", 2}, {"j", 4}}, {c, {i, j}}, b.Load(u, {i, j}));
  Schedule s = Scheduled(b.Finish());
  const Block twice = s.GetBlock("twice");
  const Loop outer = s.GetLoops(twice)[0];
  s.ComputeAt(s.GetBlock("sum"), outer);
  s.Parallel(outer);  // each iteration has its own sums
  ASSERT_TRUE(s.ok()) << s.status();
  s.ComputeInline(twice);
  EXPECT_THAT(s.status().message(),
              testing::HasSubstr("reduces in block \"sum\" for itself; block \"twice\" cannot leave it"));
}

class SupportKeeper : public Chooser {
 public:
  Decision Choose(const Site& site) override {
    site.distribution.ForEach([&](const Decision& decision) { support.push_back(decision[0]); });
    return {-1};
  }
  int ChooseStructure(absl::string_view, int) override { return 0; }
  std::vector<int64_t> support;
};

TEST(SampleComputeLocation, LeavesOutWhatIsMadeAgainForEachElement) {
  for (const int64_t columns : {16, 17}) {  // M[i] = max_k X[i, k];  Y[i, j] = X[i, j] + M[i]
    Builder b("rows");
    const Id x = b.Input("X", DType::kF32, {4, columns}), m = b.Temporary("M", DType::kF32, {4}),
             y = b.Output("Y", DType::kF32, {4, columns});
    const IndexSum i = Builder::Iter(0), j = Builder::Iter(1);
    b.Reduce("max", {{"i", 4}, {"k", columns, IterKind::kReduction}}, Monoid::Kind::kMax, {m, {i}},
             b.Load(x, {i, j}));
    b.Compute("plus", {{"i", 4}, {"j", columns}}, {y, {i, j}}, b.Add(b.Load(x, {i, j}), b.Load(m, {i})));
    SupportKeeper keeper;
    Schedule s(b.Finish(), Target(), keeper);
    s.SampleComputeLocation(s.GetBlock("max"));
    ASSERT_TRUE(s.ok()) << s.status();
    const std::vector<int64_t> within_each_row = {-1, 0}, for_each_element = {-1, 0, 1};
    EXPECT_EQ(keeper.support, columns == 16 ? for_each_element : within_each_row);
  }
}

TEST(SampleComputeLocation, LeavesOutInliningThatNoReaderCanExpress) {
  // The support of the compute location of T[i] = A[i/2] leaves out inlining: the reader C[i] = Σ_r T[i + r] would read
  // A[(i + r)/2], and the quotient of a sum of two iters cannot be expressed.
  const auto program = ParseProgram(R"(kiln.program v1
program window
parameters A, C
buffer A: f32[5] input
buffer T: f32[10] temporary
buffer C: f32[8] output
for i < 10 {
  block twice {
    spatial i < 10 = i
    T[i] = A[i/2]
  }
}
for i < 8 {
  for r < 3 {
    block sum {
      spatial i < 8 = i
      reduction r < 3 = r
      C[i] sum= T[i + r]
    }
  }
}
)");
  ASSERT_TRUE(program.ok()) << program.status();
  SupportKeeper keeper;
  Schedule s(*program, Target(), keeper);
  s.SampleComputeLocation(s.GetBlock("twice"));
  ASSERT_TRUE(s.ok()) << s.status();
  EXPECT_THAT(keeper.support, testing::Not(testing::Contains(-2)));
}

TEST(CacheRead, RefusesElementsThatNobodyWrites) {
  Builder b("every-other");
  const Id a = b.Input("A", DType::kF32, {8}), t = b.Temporary("t", DType::kF32, {8}),
           c = b.Output("C", DType::kF32, {4});
  b.Compute("make", {{"i", 8}}, {t, {b.Iter(0)}}, b.Load(a, {b.Iter(0)}));
  b.Compute("take", {{"i", 4}}, {c, {b.Iter(0)}}, b.Load(t, {b.Iter(0) * 2}));
  Schedule s = Scheduled(b.Finish());
  const Block take = s.GetBlock("take");
  s.ComputeAt(s.GetBlock("make"), s.GetLoops(take)[0]);  // then computes only the elements that are read
  const Block copy = s.CacheWrite(take);
  s.ComputeInline(take);
  ASSERT_TRUE(s.ok()) << s.status();
  s.CacheRead(copy, 0);
  EXPECT_THAT(s.status().message(), testing::HasSubstr("leave gaps in t, which a copy would read"));
}

TEST(CacheRead, RefusesElementsThatAConditionKeepsFromBeingRead) {
  // Refuses to copy T for its reader: T[0] is never written, and only the condition keeps the reader from it.
  //    T[i + 1] = x[i] for i < 1;  y[i] = i > 0 ? T[i] : 0 for i < 2
  Builder b("late");
  const Id x = b.Input("x", DType::kF32, {1}), T = b.Temporary("T", DType::kF32, {2}),
           y = b.Output("y", DType::kF32, {2});
  const IndexSum i = b.Iter(0), one = IndexSum::Constant(1);
  b.Compute("make", {{"i", 1}}, {T, {i + one}}, b.Load(x, {i}));
  b.Compute("use", {{"i", 2}}, {y, {i}},
            b.Within({{i + IndexSum::Constant(-1), 1}}, b.Load(T, {i}), b.Float(DType::kF32, 0)));
  Schedule s = Scheduled(b.Finish());
  s.CacheRead(s.GetBlock("use"), 0);
  EXPECT_THAT(Refusal(s), testing::HasSubstr("leave gaps in T, which a copy would read"));
}

TEST(CacheRead, RefusesElementsBeyondThoseWritten) {
  // Refuses to copy T.local for the block that copies it to T, if the loop of that block is split into a tile of 2:
  // only 1 element of T.local is written. In a tile of 1, the copy is allowed.
  //    T.local[2 i + 1] = x[i];  T[2 i + 1] = T.local[2 i + 1];  y[i] = T[2 i + 1], all for i < 1
  Builder b("apart");
  const Id x = b.Input("x", DType::kI32, {1}), T = b.Temporary("T", DType::kI32, {4}),
           y = b.Output("y", DType::kI32, {1});
  const IndexSum odd = b.Iter(0) * 2 + IndexSum::Constant(1);
  b.Compute("spread", {{"i", 1}}, {T, {odd}}, b.Load(x, {b.Iter(0)}));
  b.Compute("pick", {{"i", 1}}, {y, {b.Iter(0)}}, b.Load(T, {odd}));
  const Program p = b.Finish();
  for (const int64_t tile : {1, 2}) {
    Schedule s = Scheduled(p);
    const Block copy = s.CacheWrite(s.GetBlock("spread"));
    s.Split(s.GetLoops(copy)[0], {kAuto, tile});
    s.CacheRead(copy, 0);
    if (tile == 1) {
      ASSERT_TRUE(s.ok()) << s.status();
      ExpectSameResults(p, s.program());
    } else {
      EXPECT_THAT(Refusal(s), testing::HasSubstr("leave gaps in T.local, which a copy would read"));
    }
  }
}

TEST(ReverseComputeAt, RefusesToLoseThePaddingAroundWhatIsMade) {
  // Refuses to move the block that pads B into the loop that computes B: C has 10 elements, and this loop 8 iterations.
  //    B[i] = A[i] + 1 for i < 8;  C[i] = i < 8 ? B[i] : 0 for i < 10
  Builder b("pad");
  const Id a = b.Input("A", DType::kF32, {8}), c = b.Output("C", DType::kF32, {10}),
           made = b.Temporary("B", DType::kF32, {8});
  const IndexSum i = Builder::Iter(0);
  const Id add = b.Compute("add", {{"i", 8}}, {made, {i}}, b.Add(b.Load(a, {i}), b.Float(DType::kF32, 1)));
  const Id pad =
      b.Compute("pad", {{"i", 10}}, {c, {i}}, b.Within({{i, 8}}, b.Load(made, {i}), b.Float(DType::kF32, 0)));
  const Program p = b.Finish();
  EXPECT_EQ(CheckReverseComputeAt(p, pad, p.nodes[add].parent).message(),
            "its iter i also runs where block \"add\" writes nothing");
}

// Returns the program T[i] = x[i] + 1;  y[i] = T[i] + Σ_k A[i, k] if `start`, otherwise y[i] = Σ_k A[i, k] * T[k].
Program SumFrom(bool start) {
  Builder b("sums");
  const Id a = b.Input("A", DType::kI32, {8, 8}), x = b.Input("x", DType::kI32, {8}),
           y = b.Output("y", DType::kI32, {8}), t = b.Temporary("T", DType::kI32, {8});
  const IndexSum i = b.Iter(0), k = b.Iter(1);
  b.Compute("make", {{"i", 8}}, {t, {i}}, b.Add(b.Load(x, {i}), b.Integer(DType::kI32, 1)));
  const Id factor = b.Load(a, {i, k});
  b.Reduce("sum", {{"i", 8}, {"k", 8, IterKind::kReduction}}, Monoid::Kind::kSum, {y, {i}},
           start ? factor : b.Mul(factor, b.Load(t, {k})), start ? b.Load(t, {i}) : kNone);
  return b.Finish();
}

TEST(DecomposeReduction, RefusesToStartFromWhatIsNotMadeYet) {
  for (const bool below : {false, true}) {
    Schedule s = Scheduled(SumFrom(true));
    const Block sum = s.GetBlock("sum");
    const auto loops = s.GetLoops(sum);
    s.ComputeAt(s.GetBlock("make"), loops[0]);
    s.DecomposeReduction(sum, loops[below]);
    if (below) {
      ASSERT_TRUE(s.ok()) << s.status();
      ExpectSameResults(SumFrom(true), s.program());
    } else {
      EXPECT_EQ(
          Refusal(s).substr(0, Refusal(s).find('\n')),
          "step 4 does not apply: block \"sum\" starts from T, which block \"make\" does not write before "
          "loop i");
    }
  }
}

TEST(ReverseComputeAt, RefusesToRepeatAReductionInIterationsThatRunAtOnce) {
  for (const bool parallel : {false, true}) {
    Schedule s = Scheduled(SumFrom(false));
    const Block sum = s.GetBlock("sum"), make = s.GetBlock("make");
    const Loop outer = s.Split(s.GetLoops(sum)[0], {kAuto, 2})[0];
    s.ComputeAt(make, outer);  // each iteration makes all of T
    if (parallel) s.Parallel(outer);
    s.ReverseComputeAt(sum, s.AddUnitLoop(s.GetLoops(make).back()));
    if (!parallel) continue;
    EXPECT_THAT(Refusal(s),
                testing::HasSubstr("block \"sum\" would reduce the same in several iterations of loop "
                                   "i_0, which is parallel"));
  }
}

TEST(ComputeAt, RefusesReadersThatNeedPartsWithAGapBetweenThem) {
  // Computes T below loop o, which keeps the results, and refuses to move it on into loop t: an iteration of t reads
  // two elements of T with a gap between them.
  //    P = x;  T = P;  for o < 6: for t < 2: { y[2 o + t] = T[2 o + t];  z[2 o + t] = T[2 o + t + 12] }
  Builder b("parts");
  const Id x = b.Input("x", DType::kI32, {24}), P = b.Temporary("P", DType::kI32, {24}),
           T = b.Temporary("T", DType::kI32, {24}), y = b.Output("y", DType::kI32, {12}),
           z = b.Output("z", DType::kI32, {12});
  const IndexSum i = b.Iter(0);
  b.Compute("first", {{"i", 24}}, {P, {i}}, b.Load(x, {i}));
  b.Compute("make", {{"i", 24}}, {T, {i}}, b.Load(P, {i}));
  b.Compute("low", {{"i", 12}}, {y, {i}}, b.Load(T, {i}));
  b.Compute("high", {{"i", 12}}, {z, {i}}, b.Load(T, {i + IndexSum::Constant(12)}));
  const Program p = b.Finish();
  Schedule s = Scheduled(p);
  const auto low = s.Split(s.GetLoops(s.GetBlock("low"))[0], {6, 2}),
             high = s.Split(s.GetLoops(s.GetBlock("high"))[0], {6, 2});
  const Loop o = s.Merge(low[0], high[0]);
  const Loop t = s.Merge(low[1], high[1]);
  s.ComputeAt(s.GetBlock("make"), o);
  s.ComputeAt(s.GetBlock("first"), o);
  ASSERT_TRUE(s.ok()) << s.status();
  ExpectSameResults(p, s.program());
  s.ComputeAt(s.GetBlock("make"), t);
  EXPECT_THAT(
      Refusal(s),
      testing::HasSubstr("its readers do not need all that it makes, where block \"first\" may not run"));
}

}  // namespace
}  // namespace kiln
