#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "lang/program/builder.h"
#include "testing/same_results.h"

namespace kiln {
namespace {

using ::testing::HasSubstr;

// Returns the program for i < 6: for r < 10: t[i] op= A[i, r];  for i < 6: B[i] = t[i], where op is the monoid. If
// `initial`, t[i] starts from the input I[i].
Program Rows(Monoid::Kind monoid, bool initial = false) {
  Builder b("rows");
  const Id A = b.Input("A", DType::kI32, {6, 10}), I = b.Input("I", DType::kI32, {6}),
           t = b.Temporary("t", DType::kI32, {6}), B = b.Output("B", DType::kI32, {6});
  const IndexSum i = b.Iter(0), r = b.Iter(1);
  b.Reduce("sum", {{"i", 6}, {"r", 10, IterKind::kReduction}}, monoid, {t, {i}}, b.Load(A, {i, r}),
           initial ? b.Load(I, {i}) : kNone);
  b.Compute("copy", {{"i", 6}}, {B, {i}}, b.Load(t, {i}));
  return b.Finish();
}

TEST(Rfactor, MakesPartialResultsThatASecondBlockCombines) {
  Schedule s = Scheduled(Rows(Monoid::Kind::kSum));
  const Block sum = s.GetBlock("sum");
  const auto r = s.Split(s.GetLoops(sum)[1], {5, 2});
  const Block combine = s.Rfactor(sum, r[0]);
  ASSERT_TRUE(s.ok()) << s.status();
  EXPECT_THAT(ToString(s.program()), HasSubstr(R"(
for i < 6 {
  for r_0 < 5 {
    for r_1 < 2 {
      block sum {
        spatial i < 6 = i
        spatial r_0 < 5 = r_0
        reduction r_1 < 2 = r_1
        t.rf[r_0, i] sum= A[i, r_0*2 + r_1]
        from partial 3 (i < 6, r_0*2 + r_1 < 10)
      }
    }
  }
}
for i < 6 {
  for r_0 < 5 {
    block sum.combine {
      spatial i < 6 = i
      reduction r_0 < 5 = r_0
      t[i] sum= t.rf[r_0, i]
      from compute 3
    }
  }
}
)"));
  EXPECT_EQ(s.GetProducers(combine).size(), 1u);
  s.Parallel(r[0]);
  ASSERT_TRUE(s.ok()) << s.status();
  ExpectSameResults(Rows(Monoid::Kind::kSum), s.program());
}

TEST(Rfactor, KeepsTheResultsOfEveryMonoidAtEitherEndAndWithImperfectTiles) {
  using K = Monoid::Kind;
  for (const K monoid : {K::kSum, K::kProduct, K::kMin, K::kMax, K::kAnd, K::kOr}) {
    for (const int64_t inner : {1, 2, 3, 4, 10}) {
      for (const int axis : {0, -1}) {
        for (const int which : {0, 1}) {
          const Program before = Rows(monoid, inner == 3);
          Schedule s = Scheduled(before);
          const Block sum = s.GetBlock("sum");
          const auto r = s.Split(s.GetLoops(sum)[1], {kAuto, inner});
          s.Rfactor(sum, r[which], axis);
          ASSERT_TRUE(s.ok()) << s.status();
          s.Parallel(r[which]);
          ExpectSameResults(before, s.program());
        }
      }
    }
  }
}

TEST(Rfactor, PutsTheLoopLastInTheWorkspaceOnRequest) {
  Schedule s = Scheduled(Rows(Monoid::Kind::kMax));
  const Block sum = s.GetBlock("sum");
  s.Rfactor(sum, s.GetLoops(sum)[1], -1, "stack");
  EXPECT_THAT(ToString(s.program()), HasSubstr("buffer t.rf: i32[6, 10] temporary stack/thread"));
  EXPECT_THAT(ToString(s.program()), HasSubstr("t.rf[i, r] = A[i, r]"));
}

TEST(Rfactor, PartsOfPartsAreReducedInATree) {
  const Program before = Rows(Monoid::Kind::kSum);
  Schedule s = Scheduled(before);
  const Block sum = s.GetBlock("sum");
  const auto r = s.Split(s.GetLoops(sum)[1], {5, 2});
  const Block combine = s.Rfactor(sum, r[0]);
  const auto again = s.Split(s.GetLoops(combine)[1], {kAuto, 3});
  s.Rfactor(combine, again[1]);
  s.Rfactor(sum, r[1]);
  ASSERT_TRUE(s.ok()) << s.status();
  ExpectSameResults(before, s.program());
}

TEST(Rfactor, ReductionsWithTwoResultsAreTakenApartTogether) {
  // Rfactor splits a reduction with a custom monoid of two results, the sum and the number of terms, and keeps both.
  Program p = Rows(Monoid::Kind::kSum);
  const Id sum = p.nodes[p.nodes[p.nodes[kRoot].first].first].first;
  Monoid pair;
  pair.kind = Monoid::Kind::kCustom;
  pair.exact = true;
  const auto arg = [&](int i) { return p.AddExpr(Expr::Arg(DType::kI32, i)); };
  const Id zero = p.AddExpr(Expr::Constant(DType::kI32, 0)), one = p.AddExpr(Expr::Constant(DType::kI32, 1));
  pair.identity = p.AddList({zero, zero});
  pair.combine = p.AddList({p.AddExpr({Op::kAdd, DType::kI32, arg(0), arg(2)}),
                            p.AddExpr({Op::kAdd, DType::kI32, arg(1), arg(3)})});
  p.monoids.push_back(pair);
  BlockNode& b = p.block(sum);
  b.monoid = static_cast<Id>(p.monoids.size()) - 1;
  const Access first = p.accesses[b.dests.begin];
  const Id count = p.AddBuffer("count", DType::kI32, {6}, Role::kOutput);
  const Id value = p.lists[b.values.begin];
  p.block(sum).values = p.AddList({value, one});
  p.block(sum).dests = {static_cast<int32_t>(p.accesses.size()), 2};
  p.accesses.push_back(first);
  p.accesses.push_back({count, first.index});
  ASSERT_TRUE(Verify(p).ok()) << Verify(p);

  Schedule s = Scheduled(p);
  const Block block = s.GetBlock("sum");
  s.Rfactor(block, s.Split(s.GetLoops(block)[1], {kAuto, 4})[1]);
  ASSERT_TRUE(s.ok()) << s.status();
  EXPECT_THAT(ToString(s.program()), HasSubstr("t[i], count[i] m0= (t.rf[r_1, i], count.rf[r_1, i])"));
  ExpectSameResults(p, s.program());
}

TEST(Rfactor, RefusesALoopThatFeedsNoReduction) {
  Schedule s = Scheduled(Rows(Monoid::Kind::kSum));
  s.Rfactor(s.GetBlock("sum"), s.GetLoops(s.GetBlock("sum"))[0]);
  EXPECT_THAT(Refusal(s), HasSubstr("loop i feeds no reduction of block \"sum\""));
}

TEST(Rfactor, RefusesALoopOfAnotherBlock) {
  Schedule s = Scheduled(Rows(Monoid::Kind::kSum));
  s.Rfactor(s.GetBlock("sum"), s.GetLoops(s.GetBlock("copy"))[0]);
  EXPECT_THAT(Refusal(s), HasSubstr("loop i is not around block \"sum\""));
}

TEST(Rfactor, RefusesWhatIsNoReduction) {
  Schedule s = Scheduled(Rows(Monoid::Kind::kSum));
  s.Rfactor(s.GetBlock("copy"), s.GetLoops(s.GetBlock("copy"))[0]);
  EXPECT_THAT(Refusal(s), HasSubstr("block \"copy\" is not a reduction"));
}

TEST(Rfactor, RefusesAReductionThatAnotherBlockInitializes) {
  Schedule s = Scheduled(Rows(Monoid::Kind::kSum));
  const Block sum = s.GetBlock("sum");
  const auto loops = s.GetLoops(sum);
  s.DecomposeReduction(sum, loops[1]);
  s.Rfactor(sum, loops[1]);
  EXPECT_THAT(Refusal(s), HasSubstr("block \"sum\" is initialized by another block"));
}

TEST(Rfactor, RefusesALoopThatFeedsBothKindsOfIters) {
  Schedule s = Scheduled(Rows(Monoid::Kind::kSum));
  const Block sum = s.GetBlock("sum");
  s.Rfactor(sum, s.Fuse(s.GetLoops(sum)));
  EXPECT_THAT(Refusal(s), HasSubstr("loop i_r feeds spatial and reduction iters"));
}

TEST(Rfactor, RefusesTilesThatAreImperfectAtSeveralLevels) {
  Schedule s = Scheduled(Rows(Monoid::Kind::kSum));
  const Block sum = s.GetBlock("sum");
  const auto r = s.Split(s.GetLoops(sum)[1], {kAuto, 4});
  s.Rfactor(sum, s.Split(r[1], {kAuto, 3})[1]);
  EXPECT_THAT(Refusal(s),
              HasSubstr("the tiles of block \"sum\" are imperfect at more than their last level"));
}

TEST(Rfactor, RefusesAnAxisThatTheWorkspaceLacks) {
  Schedule s = Scheduled(Rows(Monoid::Kind::kSum));
  const Block sum = s.GetBlock("sum");
  s.Rfactor(sum, s.GetLoops(sum)[1], 2);
  EXPECT_EQ(s.status().code(), absl::StatusCode::kInvalidArgument);
  EXPECT_THAT(std::string(s.status().message()), HasSubstr("axis 2 of a workspace for t: wanted -2 .. 1"));
  for (const int axis : {-2, 1}) {
    Schedule last = Scheduled(Rows(Monoid::Kind::kSum));
    last.Rfactor(last.GetBlock("sum"), last.GetLoops(last.GetBlock("sum"))[1], axis);
    EXPECT_TRUE(last.ok()) << last.status();
  }
}

// Refuses an rfactor that moves the block that combines partial results out of a parallel loop: this block starts from
// t[i], and each iteration of the loop computes all of t for itself.
TEST(Rfactor, KeepsWhatItStartsFromInsideAParallelLoop) {
  Builder b("starts");
  const Id A = b.Input("A", DType::kI32, {4, 4}), t = b.Temporary("t", DType::kI32, {4}),
           B = b.Output("B", DType::kI32, {4});
  const IndexSum i = b.Iter(0), r = b.Iter(1);
  b.Reduce("make", {{"i", 4}, {"r", 4, IterKind::kReduction}}, Monoid::Kind::kSum, {t, {i}},
           b.Load(A, {i, r}));
  b.Reduce("use", {{"i", 4}, {"r", 4, IterKind::kReduction}}, Monoid::Kind::kMax, {B, {i}},
           b.Mul(b.Load(t, {r}), b.Load(A, {r, i})), b.Load(t, {i}));
  Schedule s = Scheduled(b.Finish());
  const Block use = s.GetBlock("use");
  const auto loops = s.GetLoops(use);
  const Loop inside = s.AddUnitLoop(loops[1]);
  s.Parallel(loops[0]);
  s.ComputeAt(s.GetBlock("make"), inside);
  ASSERT_TRUE(s.ok()) << s.status();
  s.Rfactor(use, loops[1]);
  EXPECT_THAT(s.status().message(),
              HasSubstr("each iteration of loop i, which is parallel, reduces in block \"make\" "
                        "for itself; block \"use\" cannot leave it"));
}

}  // namespace
}  // namespace kiln
