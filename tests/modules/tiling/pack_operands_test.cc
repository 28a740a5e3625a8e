// Packed operands: what the copies look like, and where they go.
#include "absl/strings/match.h"
#include "absl/strings/substitute.h"
#include "gmock/gmock.h"
#include "lang/analysis/access.h"
#include "lang/text/text.h"
#include "modules/default_modules.h"
#include "tests/support/golden.h"
#include "tests/support/module_cases.h"
#include "tests/support/scheduled.h"
#include "tests/support/tiled_matmul.h"
#include "trace/enumerate.h"
#include "trace/replay.h"
#include "trace/text.h"

namespace kiln {
namespace {

// y[c, h] += x[c, h + k] * w[c, k], channels last among the loops.
Program Depthwise() {
  Builder b("depthwise");
  const Id x = b.Input("x", DType::kF32, {8, 34}), w = b.Input("w", DType::kF32, {8, 3}),
           y = b.Output("y", DType::kF32, {8, 32});
  const Sum h = Builder::Iter(0), c = Builder::Iter(1), k = Builder::Iter(2);
  b.Reduce("sum", {{"h", 32}, {"c", 8}, {"k", 3, IterKind::kReduction}}, Monoid::Kind::kSum, {y, {c, h}},
           b.Mul(b.Load(x, {c, h + k}), b.Load(w, {c, k})));
  return b.Finish();
}

// The sketch of the default space that accumulates in registers and packs what `read_reuse` says.
Trace SketchOf(const Program& program, int read_reuse, bool across = false) {
  const auto enumeration = Enumerate(CpuSpace, program, Target());
  KILN_CHECK(enumeration.ok(), enumeration.status().ToString());
  for (const Sketch& sketch : enumeration->sketches) {
    bool wanted = true;
    for (const auto& choice : sketch.trace.choices) {
      if (absl::EndsWith(choice.name, "write-reuse")) wanted &= choice.picked == 1;
      if (absl::EndsWith(choice.name, "lanes-across")) wanted &= (choice.picked == 1) == across;
      if (absl::EndsWith(choice.name, "read-reuse")) wanted &= choice.picked == read_reuse;
    }
    if (wanted) return sketch.trace;
  }
  KILN_CHECK(false, "no such sketch");
}

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
