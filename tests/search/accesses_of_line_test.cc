#include "search/features/accesses_of_line.h"

#include <gtest/gtest.h>

#include "lang/program/builder.h"
#include "testing/scheduled.h"

namespace kiln {
namespace {

constexpr int64_t kVectorBytes = 32;  // eight floats

LineAccesses Accesses(const Program& program) {
  LoopNestSummary nests;
  nests.Read(program);
  return AccessesOfLine(nests, nests.blocks()[0], kVectorBytes);
}

// Returns the accesses of B[i] = A[step * i] in a loop that is vectorized with `lanes` lanes.
LineAccesses Copy(int64_t lanes, int64_t step) {
  Builder b("copy");
  const Id A = b.Input("A", DType::kF32, {lanes * 4 * step}), B = b.Output("B", DType::kF32, {lanes * 4});
  const IndexSum i = b.Iter(0);
  b.Compute("copy", {{"i", lanes * 4}}, {B, {i}}, b.Load(A, {i * step}));
  Schedule s = Scheduled(b.Finish());
  s.Vectorize(s.Split(s.GetLoops(s.GetBlock("copy"))[0], {kAuto, lanes})[1]);
  EXPECT_TRUE(s.ok()) << s.status();
  return Accesses(s.program());
}

TEST(AccessesOfLine, ReadOddLanesInPieces) {
  EXPECT_EQ(Copy(8, 1).loads, 1);
  EXPECT_EQ(Copy(8, 1).shuffles, 0);
  EXPECT_EQ(Copy(7, 1).loads, 3);  // 4 + 2 + 1
  EXPECT_EQ(Copy(7, 1).stores, 3);
  EXPECT_EQ(Copy(7, 1).shuffles, 4);  // two join what is read, two part what is written
  EXPECT_EQ(Copy(20, 1).loads, 3);    // 8 + 8 + 4
}

TEST(AccessesOfLine, ShuffleLanesWithAStep) {
  EXPECT_EQ(Copy(8, 2).loads, 2);  // the 15 elements from the first to the last
  EXPECT_EQ(Copy(8, 2).shuffles, 2);
  EXPECT_EQ(Copy(8, 16).loads, 8);  // lane by lane
  EXPECT_EQ(Copy(8, 16).shuffles, 8);
}

// Returns the accesses of Y[i] += X[i + k] * W[k] for k < 3, with `rows` iterations of i unrolled and, if `whole`, the
// loop over k around them, too.
LineAccesses Window(int64_t rows, bool whole) {
  Builder b("window");
  const Id X = b.Input("X", DType::kF32, {66}), W = b.Input("W", DType::kF32, {3}),
           Y = b.Output("Y", DType::kF32, {64});
  const IndexSum i = b.Iter(0), k = b.Iter(1);
  b.Reduce("window", {{"i", 64}, {"k", 3, IterKind::kReduction}}, Monoid::Kind::kSum, {Y, {i}},
           b.Mul(b.Load(X, {i + k}), b.Load(W, {k})));
  Schedule s = Scheduled(b.Finish());
  const auto loops = s.GetLoops(s.GetBlock("window"));
  const auto parts = s.Split(loops[0], {kAuto, rows});
  s.Reorder({parts[0], loops[1], parts[1]});
  s.Unroll(parts[1]);
  if (whole) s.Unroll(loops[1]);
  EXPECT_TRUE(s.ok()) << s.status();
  return Accesses(s.program());
}

TEST(AccessesOfLine, MakeEqualLoadsOnce) {
  EXPECT_EQ(Window(8, false).loads, 8 + 1);
  EXPECT_EQ(Window(8, true).loads, 10 + 3);
  EXPECT_EQ(Window(8, true).result_loads, 8);
  EXPECT_EQ(Window(8, true).result_stores, 8);
  EXPECT_EQ(Window(8, true).instances, 24);
}

TEST(AccessesOfLine, TellHowLongAReductionStaysAtItsResults) {
  EXPECT_EQ(Window(8, false).run, 3);
  EXPECT_EQ(Copy(8, 1).run, 1);
}

}  // namespace
}  // namespace kiln
