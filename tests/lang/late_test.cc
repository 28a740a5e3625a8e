// Tests the late primitives vectorize-inner, unroll-up-to and rfactor-lanes on scheduled programs.
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "lang/program/builder.h"
#include "lang/reference/symbolic.h"
#include "lang/text/text.h"
#include "testing/scheduled.h"

namespace kiln {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

Program Copied(int64_t extent) {
  Builder b("copied");
  const Id A = b.Input("A", DType::kF32, {extent}), B = b.Output("B", DType::kF32, {extent});
  b.Compute("copy", {{"i", extent}}, {B, {b.Iter(0)}}, b.Load(A, {b.Iter(0)}));
  return b.Finish();
}

std::string Vectorized(int64_t extent, int64_t most) {
  Target target;
  target.vector_bytes = 32;
  Schedule s = Scheduled(Copied(extent), target);
  s.VectorizeInner(most);
  EXPECT_TRUE(s.ok()) << s.status();
  return ToString(s.program());
}

TEST(VectorizeInner, SplitsLoopsThatAreLongerThanTheLimit) {
  EXPECT_THAT(Vectorized(48, 64), HasSubstr("for i < 48 vectorized {"));
  EXPECT_THAT(Vectorized(48, 32), HasSubstr("for i_0 < 2 {\n  for i_1 < 24 vectorized {"));
  EXPECT_THAT(Vectorized(47, 32), HasSubstr("for i_0 < 6 {\n  for i_1 < 8 vectorized {"));
  EXPECT_THAT(Vectorized(48, 4), HasSubstr("for i_0 < 12 {\n  for i_1 < 4 vectorized {"));
}

TEST(VectorizeInner, LeavesLoopsWithinTheLimitWhole) {
  EXPECT_THAT(Vectorized(8, 8), HasSubstr("for i < 8 vectorized {"));
}

TEST(VectorizeInner, DoesNothingWithFewerThanTwoLanes) {
  EXPECT_THAT(Vectorized(8, 1), Not(HasSubstr("vectorized")));
  EXPECT_THAT(Vectorized(1, 64), Not(HasSubstr("vectorized")));
}

TEST(VectorizeInner, TakesFewerLanesOfFunctions) {
  Builder b("functions");
  const Id A = b.Input("A", DType::kF32, {64}), B = b.Output("B", DType::kF32, {64});
  b.Compute("map", {{"i", 64}}, {B, {b.Iter(0)}}, b.Make(Op::kExp, DType::kF32, b.Load(A, {b.Iter(0)})));
  Target target;
  target.vector_bytes = 32;
  Schedule s = Scheduled(b.Finish(), target);
  s.VectorizeInner(64);
  EXPECT_THAT(ToString(s.program()), HasSubstr("for i_0 < 2 {\n  for i_1 < 32 vectorized {"));
}

// Returns the program T[j, i] = A[i, j], with the loop i inside of the loop j.
Program Transposed(int64_t columns, int64_t rows) {
  Builder b("transposed");
  const Id A = b.Input("A", DType::kF32, {rows, columns}), T = b.Output("T", DType::kF32, {columns, rows});
  const IndexSum j = b.Iter(0), i = b.Iter(1);
  b.Compute("copy", {{"j", columns}, {"i", rows}}, {T, {j, i}}, b.Load(A, {i, j}));
  return b.Finish();
}

Schedule VectorizedCopy(const Program& program) {
  Target target;
  target.vector_bytes = 32;
  Schedule s = Scheduled(program, target);
  s.VectorizeInner(64);
  EXPECT_TRUE(s.ok()) << s.status();
  EXPECT_TRUE(CheckSymbolic(s.program(), RunSymbolic(program).value()).ok());
  return s;
}

TEST(VectorizeInner, ReadsWholeVectorsOfWhatATransposeStoresApart) {
  EXPECT_THAT(ToString(VectorizedCopy(Transposed(48, 20)).program()),
              HasSubstr("for i_0 < 4 {\n  for j_0 < 6 {\n    for i_1 < 5 unrolled {\n      "
                        "for j_1 < 8 vectorized {"));
  EXPECT_THAT(ToString(VectorizedCopy(Transposed(6, 4)).program()),
              HasSubstr("for i < 4 unrolled {\n  for j < 6 vectorized {"));
}

TEST(VectorizeInner, TransposesIntoPanels) {
  Builder b("panels");  // C[k, i] = A[i, k], by way of a copy of A
  const Id A = b.Input("A", DType::kF32, {12, 16}), C = b.Output("C", DType::kF32, {16, 12});
  const IndexSum k = b.Iter(0), i = b.Iter(1);
  b.Compute("copy", {{"k", 16}, {"i", 12}}, {C, {k, i}}, b.Load(A, {i, k}));
  Schedule s = Scheduled(b.Finish());
  const Block copy = s.GetBlock("copy");
  s.CacheRead(copy, 0);
  s.TransformLayout(copy, 0, "(i, k) -> (i/6, k, i%6)");
  ASSERT_TRUE(s.ok()) << s.status();
  EXPECT_THAT(ToString(VectorizedCopy(s.program()).program()),
              HasSubstr("for c0_0 < 2 {\n  for c1_0 < 2 {\n    for c0_1 < 6 unrolled {\n      "
                        "for c1_1 < 8 vectorized {"));
}

TEST(VectorizeInner, LeavesTransposesThatNoTileDivides) {
  EXPECT_THAT(ToString(VectorizedCopy(Transposed(48, 17)).program()), Not(HasSubstr("vectorized")));
  EXPECT_THAT(ToString(VectorizedCopy(Transposed(11, 16)).program()), Not(HasSubstr("vectorized")));
}

std::string Unrolled(int64_t most, bool vectorized = false, bool function = false) {
  Builder b("nest");
  const Id A = b.Input("A", DType::kF32, {3, 4, 5}), B = b.Output("B", DType::kF32, {3, 4, 5});
  const IndexSum i = b.Iter(0), j = b.Iter(1), k = b.Iter(2);
  const Id x = b.Load(A, {i, j, k});
  b.Compute("copy", {{"i", 3}, {"j", 4}, {"k", 5}}, {B, {i, j, k}},
            function ? b.Make(Op::kErf, DType::kF32, x) : x);
  Schedule s = Scheduled(b.Finish());
  if (vectorized) s.Vectorize(s.GetLoops(s.GetBlock("copy"))[2]);
  s.UnrollUpTo(most);
  EXPECT_TRUE(s.ok()) << s.status();
  return ToString(s.program());
}

TEST(UnrollUpTo, UnrollsWhileTheLineIsShort) {
  EXPECT_THAT(Unrolled(4), HasSubstr("for i < 3 {\n  for j < 4 {\n    for k < 5 {"));
  EXPECT_THAT(Unrolled(5), HasSubstr("for i < 3 {\n  for j < 4 {\n    for k < 5 unrolled {"));
  EXPECT_THAT(Unrolled(20), HasSubstr("for i < 3 {\n  for j < 4 unrolled {\n    for k < 5 unrolled {"));
  EXPECT_THAT(Unrolled(60), HasSubstr("for i < 3 unrolled {"));
}

TEST(UnrollUpTo, RunsAsManyIterationsOfALongerLoopAtATimeAsFitAndDivideIt) {
  EXPECT_THAT(Unrolled(2), HasSubstr("    for k < 5 {"));
  EXPECT_THAT(Unrolled(10), HasSubstr("  for j < 4 @\"unrolled-steps\"=2 {\n    for k < 5 unrolled {"));
  EXPECT_THAT(Unrolled(19), HasSubstr("  for j < 4 @\"unrolled-steps\"=2 {\n    for k < 5 unrolled {"));
}

TEST(UnrollUpTo, CountsAVectorOnce) {
  EXPECT_THAT(Unrolled(4, true),
              HasSubstr("for i < 3 {\n  for j < 4 unrolled {\n    for k < 5 vectorized {"));
}

// UnrollUpTo counts one instruction for each lane that a layout stores apart. This layout interleaves two rows, so that
// four lanes along a row need four stores, and an iteration of i has four instructions.
TEST(UnrollUpTo, CountsEachLaneThatALayoutStoresApart) {
  const auto unrolled = [](int64_t most) {
    Program p = ParseProgram(R"(kiln.program v1
program pack
parameters A, B
buffer A: f32[8, 4] input
buffer B: f32[8, 4] output layout (d0/2 < 4, d1 < 4, d0%2 < 2)

for i < 8 {
  for j < 4 vectorized {
    block copy {
      spatial i < 8 = i
      spatial j < 4 = j
      B[i, j] = A[i, j]
    }
  }
}
)")
                    .value();
    Schedule s = Scheduled(std::move(p));
    s.UnrollUpTo(most);
    EXPECT_TRUE(s.ok()) << s.status();
    return ToString(s.program());
  };
  EXPECT_THAT(unrolled(16), HasSubstr("for i < 8 @\"unrolled-steps\"=4 {"));
  EXPECT_THAT(unrolled(32), HasSubstr("for i < 8 unrolled {"));
}

TEST(UnrollUpTo, CountsInstructionsOfFunctions) {
  EXPECT_THAT(Unrolled(64, true, true), HasSubstr("for i < 3 {\n  for j < 4 {"));
  EXPECT_THAT(Unrolled(200, true, true), HasSubstr("for i < 3 {\n  for j < 4 unrolled {"));
}

std::string SumsUnrolled(int64_t terms) {  // the default target has 16 vector registers
  Builder b("sums");
  const Id A = b.Input("A", DType::kF32, {4, terms}), B = b.Output("B", DType::kF32, {4});
  const IndexSum i = b.Iter(0), k = b.Iter(1);
  b.Reduce("sum", {{"i", 4}, {"k", terms, IterKind::kReduction}}, Monoid::Kind::kSum, {B, {i}},
           b.Load(A, {i, k}));
  Schedule s = Scheduled(b.Finish());
  s.UnrollUpTo(512);
  EXPECT_TRUE(s.ok()) << s.status();
  return ToString(s.program());
}

TEST(UnrollUpTo, RepeatsNoReductionThatIsLongerThanTheRegisters) {
  EXPECT_THAT(SumsUnrolled(16), HasSubstr("for i < 4 unrolled {\n  for k < 16 unrolled {"));
  EXPECT_THAT(SumsUnrolled(17), HasSubstr("for i < 4 {\n  for k < 17 unrolled {"));
}

// Returns the text of a program that scales the rows of A by their sums, after rfactor-lanes let it sum in `lanes`
// lanes. With `below_reader`, the sums are computed inside the row loop of the block that scales. Expects the same
// results.
std::string Rows(int64_t columns, int64_t lanes, bool below_reader = false) {
  Builder b("rows");
  const Id A = b.Input("A", DType::kF32, {3, columns}), B = b.Output("B", DType::kF32, {3, columns});
  const Id s = b.Temporary("s", DType::kF32, {3});
  const IndexSum i = b.Iter(0), k = b.Iter(1);
  b.Reduce("sum", {{"i", 3}, {"k", columns, IterKind::kReduction}}, Monoid::Kind::kSum, {s, {i}},
           b.Load(A, {i, k}));
  b.Compute("scale", {{"i", 3}, {"j", columns}}, {B, {i, k}}, b.Mul(b.Load(A, {i, k}), b.Load(s, {i})));
  const Program original = b.Finish();
  Schedule schedule = Scheduled(original);
  if (below_reader)
    schedule.ComputeAt(schedule.GetBlock("sum"), schedule.GetLoops(schedule.GetBlock("scale"))[0]);
  schedule.RfactorLanes(lanes);
  EXPECT_TRUE(schedule.ok()) << schedule.status();
  EXPECT_TRUE(CheckSymbolic(schedule.program(), RunSymbolic(original).value()).ok());
  return ToString(schedule.program());
}

TEST(RfactorLanes, CombinesLanesAtTheEndOfEachRow) {
  EXPECT_THAT(Rows(64, 16), HasSubstr("for i < 3 {\n  for k_0 < 4 {\n    for k_1 < 16 vectorized {"));
  EXPECT_THAT(Rows(64, 16), HasSubstr("buffer s.rf: f32[3, 16] temporary register"));
  EXPECT_THAT(Rows(64, 16, true), HasSubstr("for k_0 < 4 tainted {\n      for k_1 < 16 vectorized"));
}

TEST(RfactorLanes, LeavesShortAndOddRowsAndZeroLanesAlone) {
  EXPECT_THAT(Rows(37, 16), Not(HasSubstr("register")));
  EXPECT_THAT(Rows(8, 16), Not(HasSubstr("register")));
  EXPECT_THAT(Rows(64, 0), Not(HasSubstr("register")));
}

}  // namespace
}  // namespace kiln
