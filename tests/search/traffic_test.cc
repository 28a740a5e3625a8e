#include "search/features/traffic.h"

#include <gtest/gtest.h>

#include "lang/program/builder.h"
#include "testing/matmul.h"

namespace kiln {
namespace {

constexpr Cache kCache = {.bytes = 32 << 10, .way_bytes = 4 << 10, .streamed_bytes = 16 * 64};

Traffic Of(const Program& program) {
  LoopNestSummary nests;
  nests.Read(program);
  Footprints feet;
  feet.Read(nests);
  return TrafficBeyond(feet, 0, nests.blocks()[0].depth, kCache);
}

// Returns the program y[r] sum= x[k, i], for r < 8, which reads the same `rows` by `columns` elements of x eight times.
// The rows are `apart` elements apart in memory.
Program EightTimes(int64_t rows, int64_t columns, int64_t apart) {
  Builder b("eight");
  const Id x = b.Input("x", DType::kF32, {rows, apart}), y = b.Output("y", DType::kF32, {8});
  b.Reduce("sum", {{"r", 8}, {"k", rows, IterKind::kReduction}, {"i", columns, IterKind::kReduction}},
           Monoid::Kind::kSum, {y, {b.Iter(0)}}, b.Load(x, {b.Iter(1), b.Iter(2)}));
  return b.Finish();
}

constexpr double kLineOfY = 64;

TEST(Traffic, BringsWhatFitsOnce) {
  const Traffic traffic = Of(Matmul(16, 16, 16));
  EXPECT_EQ(traffic.streamed + traffic.scattered, 3 * 16 * 16 * 4);
  EXPECT_EQ(traffic.inside, 0);
}

TEST(Traffic, BringsAgainWhatDoesNotFit) {
  EXPECT_EQ(Of(EightTimes(1, 1 << 12, 1 << 12)).streamed, 16 << 10);
  EXPECT_EQ(Of(EightTimes(1, 1 << 14, 1 << 14)).streamed, 8 * (64 << 10));
  EXPECT_EQ(Of(EightTimes(1, 1 << 12, 1 << 12)).inside, 0);
  EXPECT_EQ(Of(EightTimes(1, 1 << 14, 1 << 14)).inside, 3);
}

TEST(Traffic, RowsAPowerOfTwoApartMeetInFewSets) {
  EXPECT_EQ(Of(EightTimes(6, 1, 1024)).scattered, 6 * 64 + kLineOfY);
  EXPECT_NEAR(Of(EightTimes(12, 1, 1024)).scattered, 8 * 12 * 64, 2 * kLineOfY);
  EXPECT_EQ(Of(EightTimes(12, 1, 1024 + 16)).scattered, 12 * 64 + kLineOfY);
}

}  // namespace
}  // namespace kiln
