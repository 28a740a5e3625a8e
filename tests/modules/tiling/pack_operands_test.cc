// Packed operands: what the copies look like, and where they go.
#include "absl/strings/match.h"
#include "absl/strings/substitute.h"
#include "gmock/gmock.h"
#include "lang/analysis/access.h"
#include "lang/text/text.h"
#include "testing/matmul.h"
#include "testing/scheduled.h"
#include "tests/modules/tiling/sketch_of.h"
#include "tests/support/expect_module.h"
#include "tests/support/golden.h"
#include "trace/enumerate.h"
#include "trace/replay.h"
#include "trace/text.h"

namespace kiln {
namespace {

TEST(PackOperands, MakesPanelsAsWideAsTheInnermostTiles) {
  const Program program = Matmul(20, 64, 32);
  Trace trace = SketchOf(program, 3);
  for (Step& step : trace.steps) {
    if (absl::EndsWith(step.site, "R2")) step.decision = {2, 16};
    if (absl::EndsWith(step.site, "S1")) step.decision = {1, 2, 2, 16};
    if (absl::EndsWith(step.site, "S0")) step.decision = {2, 1, 2, 5};
    if (absl::EndsWith(step.site, "max-unroll")) step.decision = {0};
  }
  const auto replayed = Replay(trace, program, Target());
  ASSERT_TRUE(replayed.ok()) << replayed.status();
  ExpectGolden("modules/pack_operands.txt", Print(trace) + "\n" + ToString(replayed->program()));
}

TEST(PackOperands, WalksDownTheRowsOfEachPanelOfColumns) {
  const Program program = Matmul(20, 64, 32);
  Trace trace = SketchOf(program, 4);
  for (Step& step : trace.steps) {
    if (absl::EndsWith(step.site, "R2")) step.decision = {2, 16};
    if (absl::EndsWith(step.site, "S1")) step.decision = {1, 1, 4, 16};
    if (absl::EndsWith(step.site, "S0")) step.decision = {1, 2, 2, 5};
    if (absl::EndsWith(step.site, "max-unroll")) step.decision = {64};
  }
  const auto replayed = Replay(trace, program, Target());
  ASSERT_TRUE(replayed.ok()) << replayed.status();
  ExpectGolden("modules/pack_operands_goto.txt", Print(trace) + "\n" + ToString(replayed->program()));
}

TEST(PackOperands, CopiesOneOperandAndLeavesTheOther) {
  constexpr char kSpace[] =
      "pin site=write-reuse to=1 | pin site=read-reuse to=$0 | each-block(multi-level-tiling)";
  ExpectModule("pack_operands_first", absl::Substitute(kSpace, 1), Matmul(20, 64, 32));
  ExpectModule("pack_operands_second", absl::Substitute(kSpace, 2), Matmul(20, 64, 32));
}

TEST(PackOperands, LeavesWhatOnlyWindowsReadAgain) {
  const Program program = Depthwise();
  Schedule s = Scheduled(program);
  const Id block = s.node(s.GetBlock("sum"));
  EXPECT_FALSE(IsReusedWhole(program, block, AccessOf(program, block, 0)));  // x
  EXPECT_TRUE(IsReusedWhole(program, block, AccessOf(program, block, 1)));   // w, by each h
  const auto enumeration = Enumerate(CpuSpace, program, Target());
  ASSERT_TRUE(enumeration.ok());
  EXPECT_EQ(enumeration->sketches.size(), 6u);  // three ways to write, and w packed or not
  for (const Sketch& sketch : enumeration->sketches)
    EXPECT_THAT(Print(sketch.trace), testing::Not(testing::HasSubstr("cache-read b0 storage")));
}

TEST(PackOperands, AUserOfOneOperandHasNoChoiceOfAll) {
  Builder b("squares");
  const Id x = b.Input("x", DType::kF32, {16, 16}), y = b.Output("y", DType::kF32, {16, 16});
  const Sum i = Builder::Iter(0), j = Builder::Iter(1), k = Builder::Iter(2);
  b.Reduce("square", {{"i", 16}, {"j", 16}, {"k", 16, IterKind::kReduction}}, Monoid::Kind::kSum, {y, {i, j}},
           b.Mul(b.Load(x, {i, k}), b.Load(x, {k, j})));
  const auto enumeration = Enumerate(CpuSpace, b.Finish(), Target());
  ASSERT_TRUE(enumeration.ok()) << enumeration.status();
  for (const Sketch& sketch : enumeration->sketches) {
    for (const auto& choice : sketch.trace.choices) {
      if (absl::EndsWith(choice.name, "read-reuse")) {
        EXPECT_EQ(choice.n, 2);
      }
    }
  }
}

}  // namespace
}  // namespace kiln
