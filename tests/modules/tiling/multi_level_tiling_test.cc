// The order of the loops of tiles.
#include "absl/strings/match.h"
#include "gmock/gmock.h"
#include "lang/text/text.h"
#include "tests/modules/tiling/sketch_of.h"
#include "trace/replay.h"
#include "trace/text.h"

namespace kiln {
namespace {

// Rows h and taps k of x[h + k, c] share what they load: k is innermost, though c comes after it.
TEST(MultiLevelTiling, TheLastWindowIsTheInnermostReduction) {
  Builder b("conv");  // y[h, o] += x[h + k, c] * w[k, c, o], channels last
  const Id x = b.Input("x", DType::kF32, {16, 4}), w = b.Input("w", DType::kF32, {3, 4, 8}),
           y = b.Output("y", DType::kF32, {14, 8});
  const Sum h = Builder::Iter(0), o = Builder::Iter(1), k = Builder::Iter(2), c = Builder::Iter(3);
  b.Reduce("conv", {{"h", 14}, {"o", 8}, {"k", 3, IterKind::kReduction}, {"c", 4, IterKind::kReduction}},
           Monoid::Kind::kSum, {y, {h, o}}, b.Mul(b.Load(x, {h + k, c}), b.Load(w, {k, c, o})));
  const std::string text = Print(SketchOf(b.Finish(), 0));
  // c is l3 in l4, l5; k is l2 in l6, l7.
  EXPECT_THAT(text, testing::ContainsRegex("l4, l5 = split l3"));
  EXPECT_THAT(text, testing::ContainsRegex("l6, l7 = split l2"));
  EXPECT_THAT(text, testing::ContainsRegex("reorder .* l6 l4 .* l5 l7 "));
}

TEST(MultiLevelTiling, WritesRegistersAlongTheResult) {
  const Program program = Depthwise();
  Trace trace = SketchOf(program, 0);
  for (Step& step : trace.steps) {
    if (absl::EndsWith(step.site, "S1")) step.decision = {1, 1, 2, 16};
    if (absl::EndsWith(step.site, "S0")) step.decision = {1, 2, 1, 4};
  }
  const auto replayed = Replay(trace, program, Target());
  ASSERT_TRUE(replayed.ok()) << replayed.status();
  EXPECT_THAT(ToString(replayed->program()), testing::HasSubstr(R"(for c < 4 unrolled tainted {
                for h < 16 vectorized tainted {
                  block sum.combine)"));
}

}  // namespace
}  // namespace kiln
