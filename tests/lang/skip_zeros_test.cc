#include "gmock/gmock.h"
#include "lang/program/builder.h"
#include "lang/schedule/schedule.h"
#include "lang/text/text.h"
#include "testing/same_results.h"
#include "tests/lang/restricted.h"
#include "tests/support/golden.h"

namespace kiln {
namespace {

using ::testing::HasSubstr;

// Returns the program C[h] sum= Z[h + i] * W[i], where Z has an element of X at each y with y % step = at, and zeros
// elsewhere.
Program Spread(int64_t h, int64_t i, int64_t step, int64_t at) {
  Builder b("spread");
  const int64_t wide = h + i - 1, elements = (wide - 1 - at) / step + 1;
  const Id x = b.Input("X", DType::kF32, {elements}), w = b.Input("W", DType::kF32, {i}),
           z = b.Temporary("Z", DType::kF32, {wide}), c = b.Output("C", DType::kF32, {h});
  const IndexSum y = b.Iter(0);
  const IndexSum offset = y + IndexSum::Constant(-at),
                 element{-(at / step), {IndexSplit{Source::Iter(0), 1, step, 0}}};
  b.Compute("spread", {{"y", wide}}, {z, {y}},
            b.Within({{offset, wide}, {IndexSum{-(at % step), {IndexSplit{Source::Iter(0), 1, 1, step}}}, 1}},
                     b.Load(x, {element}), b.Float(DType::kF32, 0)));
  b.Reduce("sum", {{"h", h}, {"i", i, IterKind::kReduction}}, Monoid::Kind::kSum, {c, {b.Iter(0)}},
           b.Mul(b.Load(z, {b.Iter(0) + b.Iter(1)}), b.Load(w, {b.Iter(1)})));
  return b.Finish();
}

void Skip(Schedule& s) { s.SkipZeros(s.GetBlock("sum")); }

TEST(SkipZeros, LeavesOneTermOfEachStep) {
  Schedule s = Scheduled(Spread(16, 4, 2, 0));
  Skip(s);
  ASSERT_TRUE(s.ok()) << s.status();
  EXPECT_THAT(ToString(s.program()), HasSubstr("C[h*2 + h.r] sum= Z[h*2 + h.r*2 + i*2]*W[i*2 + h.r]"));
}

TEST(SkipZeros, ComputesTheSame) {
  for (const auto& [h, i, step, at] : std::vector<std::array<int64_t, 4>>{
           {16, 4, 2, 0}, {16, 4, 2, 1}, {8, 2, 2, 1}, {10, 6, 2, 0}, {12, 3, 3, 2}, {9, 6, 3, 2}}) {
    const Program before = Spread(h, i, step, at);
    Schedule s = Scheduled(before);
    Skip(s);
    ASSERT_TRUE(s.ok()) << s.status();
    ExpectSameResults(before, s.program());
  }
}

TEST(SkipZeros, LeavesOneTermOfAWindowThatMeetsASingleElement) {
  const Program before = ParseProgram(R"(kiln.program v1
program single
parameters X, W, C
buffer X: f32[8] input
buffer W: f32[8, 4] input
buffer C: f32[4] output
buffer Z: f32[8, 7] temporary

for m < 8 {
  for y < 7 {
    block spread {
      spatial m < 8 = m
      spatial y < 7 = y
      Z[m, y] = within((y - 3 < 1), X[m], f32(0))
    }
  }
}
for h < 4 {
  for m < 8 {
    for i < 4 {
      block sum {
        spatial h < 4 = h
        reduction m < 8 = m
        reduction i < 4 = i
        C[h] sum= Z[m, h + i]*W[m, i]
      }
    }
  }
}
)")
                             .value();
  Schedule s = Scheduled(before);
  Skip(s);
  ASSERT_TRUE(s.ok()) << s.status();
  EXPECT_THAT(ToString(s.program()), HasSubstr("C[h.r] sum= Z[m, 3]*W[m, 3 - h.r]"));
  ExpectSameResults(before, s.program());
}

// A block of which decompose-padding separated the zeros may be tiled by 3, though it stores elements at even y only: y
// is 3*y0 + y1 then, and y % 2 cannot be expressed by y0 and y1.
TEST(DecomposePadding, OfElementsThatAreApartMayBeTiledAfterwards) {
  const Program before = Spread(8, 3, 2, 0);
  Schedule s = Scheduled(before);
  const Block spread = s.GetBlock("spread");
  s.DecomposePadding(spread, s.GetLoops(spread)[0]);
  s.Split(s.GetLoops(spread)[0], {4, 3});
  ASSERT_TRUE(s.ok()) << s.status();
  ExpectSameResults(before, s.program());
}

TEST(SkipZeros, IsRefusedWhereNoTermIsKnownToBeZero) {
  Refusals refusals;
  refusals.Add("a step has transformed the program", Spread(16, 4, 2, 0), [](Schedule& s) {
    s.Split(s.GetLoops(s.GetBlock("sum"))[0], {4, 4});
    Skip(s);
  });
  refusals.Add("the terms are not a multiple of the distance", Spread(16, 3, 2, 0), Skip);
  refusals.Add("the results are not a multiple of the distance", Spread(15, 4, 2, 0), Skip);
  refusals.Add("the term is not a sum of iters", Spread(12, 3, 3, 1), Skip);
  refusals.Add("the block is not a contraction", Packed(),
               [](Schedule& s) { s.SkipZeros(s.GetBlock("copy")); });
  ExpectGolden("lang/skip_zeros_refusals.txt", refusals.text());
}

}  // namespace
}  // namespace kiln
