// Tests the passes of lowering without MLIR: each on a small program, and all of them on random programs.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "backends/lower/passes/decompose_reductions.h"
#include "backends/lower/passes/plan_indices.h"
#include "backends/lower/passes/share_storage.h"
#include "backends/lower/passes/unroll_short_loops.h"
#include "lang/analysis/loops.h"
#include "lang/reference/interpreter.h"
#include "lang/schedule/inline_nested_blocks.h"
#include "lang/text/text.h"
#include "testing/random_program.h"
#include "tests/support/random_steps.h"
#include "validator/validate.h"

namespace kiln {
namespace {

using testing::HasSubstr;

Program Parsed(const std::string& text) {
  const auto program = ParseProgram(absl::StrCat("kiln.program v1\n", text));
  EXPECT_TRUE(program.ok()) << program.status();
  return program.ok() ? *program : Program();
}

TEST(DecomposeReductions, PutsABlockThatStoresTheIdentityBeforeTheReduction) {
  Program p = Parsed(R"(
program sums
parameters A, S
buffer A: f32[4, 8] input
buffer S: f32[4] output
for i < 4 { for k < 8 { block sum { spatial i < 4 = i  reduction k < 8 = k  S[i] sum= A[i, k] } } }
)");
  DecomposeReductions(p);
  EXPECT_THAT(ToString(p), HasSubstr(R"(for i < 4 {
  block sum.init {
    spatial i < 4 = i
    spatial k < 8 = 0
    S[i] = f32(0)
  }
  for k < 8 {
    block sum {
      spatial i < 4 = i
      reduction k < 8 = k
      S[i] accumulate sum= A[i, k])"));
}

// DecomposeReductions copies the loops of a reduction around the block that stores the identity. The copy of a
// pipelined loop is serial, since the stages are those of the loop's own children.
TEST(DecomposeReductions, MakesACopyOfAPipelinedLoopSerial) {
  Program p = Parsed(R"(
program sums
parameters A, S
buffer A: f32[4, 8] input
buffer S: f32[4] output
for k < 8 { for i < 4 pipelined (0 0) { block sum { spatial i < 4 = i  reduction k < 8 = k  S[i] sum= A[i, k] } } }
)");
  DecomposeReductions(p);
  EXPECT_THAT(ToString(p), HasSubstr("for i < 4 {\n  block sum.init {"));
  EXPECT_THAT(ToString(p), HasSubstr("for i < 4 pipelined (0 0) {\n    block sum {"));
}

// Returns true if UnrollShortLoops unrolls the loop over the tiles of a row of `columns` elements with padding. Tiles
// have eight lanes. The first and the last one cross the bounds of the row.
bool WritesOutTilesOf(int64_t columns) {
  Program p = Parsed(absl::StrReplaceAll(
      R"(
program padded
parameters A, B
buffer A: f32[<columns>] input
buffer B: f32[<padded>] output
for a < <tiles> { for b < 8 vectorized { block pad {
  spatial i < <padded> = a*8 + b
  B[i] = within((i - 1 < <columns>), A[i - 1], f32(0))
} } }
)",
      {{"<columns>", absl::StrCat(columns)},
       {"<padded>", absl::StrCat(columns + 2)},
       {"<tiles>", absl::StrCat((columns + 2) / 8)}}));
  UnrollShortLoops(p, PlanIndices(p), 32, {});
  return p.loop(LoopsBelow(p, kRoot)[0]).kind == LoopKind::kUnrolled;
}

TEST(UnrollShortLoops, DoesSoWithFewTilesOfAPaddedRow) {
  EXPECT_TRUE(WritesOutTilesOf(30));
  EXPECT_FALSE(WritesOutTilesOf(100 * 8 - 2));
}

// Returns how many elements PlanIndices gives the temporary T. An iteration of loop k copies 24 columns of 8 rows to T,
// in vectors of four from column `first` on, and then reads them.
int64_t ElementsOfAPanel(absl::string_view layout, absl::string_view first) {
  Program p = Parsed(absl::StrReplaceAll(R"(
program panel
parameters A, S
buffer A: f32[8, 768] input
buffer S: f32[8] output
buffer T: f32[8, 768] temporary layout <layout>
for k < 31 {
  for i < 8 { for v < 6 { for c < 4 { block copy {
    spatial i < 8 = i  spatial j < 768 = <first> + v*4 + c
    T[i, j] = A[i, j]
  } } } }
  for i < 8 { for c < 24 { block sum {
    spatial i < 8 = i  reduction j < 768 = <first> + c
    S[i] sum= T[i, j]
  } } }
}
)",
                                         {{"<layout>", layout}, {"<first>", first}}));
  const IndexPlan plan = PlanIndices(p);
  for (size_t id = 0; id < p.buffers.size(); ++id)
    if (p.Text(p.buffers[id].name) == "T") return plan.buffers[id].elements;
  return 0;
}

// For tiles of 6 columns, PlanIndices divides (k*24 + v*4 + c)/6 to k*4 + (v*4 + c)/6, and a temporary then has only
// the 4 tiles that one iteration of k needs, or 5 if they begin within a tile. It has all 128 tiles if 6 does not
// divide the factor of k.
TEST(PlanIndices, TakesMultiplesOutOfADivision) {
  EXPECT_EQ(ElementsOfAPanel("(d1/6 < 128, d0 < 8, d1%6 < 6)", "k*24"), 4 * 8 * 6);
  EXPECT_EQ(ElementsOfAPanel("(d1/6 < 128, d0 < 8, d1%6 < 6)", "k*24 + 18"), 4 * 8 * 6);
  EXPECT_EQ(ElementsOfAPanel("(d1/6 < 128, d0 < 8, d1%6 < 6)", "k*24 + 2"), 5 * 8 * 6);
  EXPECT_EQ(ElementsOfAPanel("(d1/6 < 128, d0 < 8, d1%6 < 6)", "k*23"), 128 * 8 * 6);
  EXPECT_EQ(ElementsOfAPanel("(d1/24 < 32, d1/6%4 < 4, d0 < 8, d1%6 < 6)", "k*24"), 4 * 8 * 6);
}

TEST(ShareStorage, GivesATemporaryTheMemoryOfOneThatIsNoLongerRead) {
  Program p = Parsed(R"(
program chain
parameters X, Y
buffer X: f32[64] input
buffer Y: f32[64] output
buffer T1: f32[64] temporary
buffer T2: f32[64] temporary
buffer T3: f32[64] temporary
for i < 64 { block a { spatial i < 64 = i  T1[i] = X[63 - i] } }
for i < 64 { block b { spatial i < 64 = i  T2[i] = T1[63 - i] } }
for i < 64 { block c { spatial i < 64 = i  T3[i] = T2[63 - i] } }
for i < 64 { block d { spatial i < 64 = i  Y[i] = T3[63 - i] } }
)");
  IndexPlan plan = PlanIndices(p);
  ShareStorage(p, plan);
  const auto id = [&](absl::string_view name) {
    for (size_t b = 0; b < p.buffers.size(); ++b)
      if (p.Text(p.buffers[b].name) == name) return static_cast<Id>(b);
    return kNone;
  };
  EXPECT_EQ(plan.buffers[id("T3")].shares, id("T1"));
  EXPECT_EQ(plan.buffers[id("T2")].shares, kNone);
}

TEST(LowerPasses, KeepWhatRandomProgramsCompute) {
  int lowered = 0;
  for (uint64_t seed = 0; seed < 400; ++seed) {
    RandomDice dice(Engine({seed, 79}));
    State state;
    state.program = RandomProgram(dice, {.types = true});
    const std::vector<std::string> inputs = RandomInputs(state.program, dice);
    const auto wanted = kiln::Run(state.program, inputs, {.only_defined = true});
    if (!wanted.ok()) continue;
    TryRandomSteps(state, 20, dice);
    if (!Validate(state.program, Target()).ok) continue;
    Program p = state.program;
    InlineNestedBlocks(p);
    DecomposeReductions(p);
    IndexPlan plan = PlanIndices(p);
    UnrollShortLoops(p, plan, 32, {});
    ShareStorage(p, plan);
    const auto found = kiln::Run(p, inputs);
    ASSERT_TRUE(found.ok()) << "seed " << seed << ": " << found.status() << ToString(p);
    EXPECT_EQ(*found, *wanted) << "seed " << seed << "\n" << ToString(p);
    ++lowered;
  }
  EXPECT_GT(lowered, 100);
}

}  // namespace
}  // namespace kiln
