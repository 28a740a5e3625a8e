// Vectors along another dimension than the last of the result.
#include "absl/strings/match.h"
#include "gmock/gmock.h"
#include "lang/text/text.h"
#include "testing/matmul.h"
#include "tests/modules/tiling/sketch_of.h"
#include "tests/support/golden.h"
#include "trace/replay.h"
#include "trace/text.h"

namespace kiln {
namespace {

TEST(LanesAcross, GoAlongTheChannelsWhereColumnsFillNoVectors) {
  Builder b("conv");  // y[o, h] += x[c, h + k] * w[o, c, k]
  const Id x = b.Input("x", DType::kF32, {4, 9}), w = b.Input("w", DType::kF32, {32, 4, 3}),
           y = b.Output("y", DType::kF32, {32, 7});
  const Sum o = Builder::Iter(0), h = Builder::Iter(1), c = Builder::Iter(2), k = Builder::Iter(3);
  b.Reduce("conv", {{"o", 32}, {"h", 7}, {"c", 4, IterKind::kReduction}, {"k", 3, IterKind::kReduction}},
           Monoid::Kind::kSum, {y, {o, h}}, b.Mul(b.Load(x, {c, h + k}), b.Load(w, {o, c, k})));
  const Program program = b.Finish();
  Trace trace = SketchOf(program, 0, true);
  for (Step& step : trace.steps) {
    if (absl::EndsWith(step.site, "S1")) step.decision = {1, 2, 2, 8};
    if (absl::EndsWith(step.site, "S0")) step.decision = {1, 1, 1, 7};
    if (absl::EndsWith(step.site, "R2")) step.decision = {4, 1};
    if (absl::EndsWith(step.site, "max-unroll")) step.decision = {0};
  }
  const auto replayed = Replay(trace, program, Target());
  ASSERT_TRUE(replayed.ok()) << replayed.status();
  ExpectGolden("modules/lanes_across.txt", Print(trace) + "\n" + ToString(replayed->program()));
}

TEST(LanesAcross, AreNoChoiceWhereTheLastDimensionFillsVectors) {
  for (const Program& program : {Matmul(32, 16, 8), Matmul(7, 9, 8)}) {
    const auto sketches = Enumerate(CpuSpace, program, Target());
    ASSERT_TRUE(sketches.ok());
    for (const Sketch& sketch : sketches->sketches)
      EXPECT_THAT(Print(sketch.trace), testing::Not(testing::HasSubstr("lanes-across")));
  }
}

}  // namespace
}  // namespace kiln
