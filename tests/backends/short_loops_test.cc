// Tests that lowering unrolls short loops where this removes instructions: loops over padding, over few terms, and over
// temporaries that then fit in registers.
#include <gtest/gtest.h>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "backends/lower/passes/plan_indices.h"
#include "backends/lower/passes/unrolled.h"
#include "lang/program/builder.h"
#include "tests/backends/computes_the_same.h"
#include "tests/backends/with_loops.h"

namespace kiln {
namespace {

// Returns a program that copies A to B with a border of one zero on each side, in vectors of eight lanes. The first and
// the last vector of a row cross the bounds of A.
Program Padded(int64_t columns) {
  return Parsed(absl::StrReplaceAll(R"(
program padded
parameters A, B
buffer A: f32[9, <columns>] input
buffer B: f32[11, <padded>] output

for r < 11 {
  for a < <tiles> {
    for b < 8 vectorized {
      block pad {
        spatial r < 11 = r
        spatial i < <padded> = a*8 + b
        B[r, i] = within((r - 1 < 9, i - 1 < <columns>), A[r - 1, i - 1], f32(0))
      }
    }
  }
}
)",
                                    {{"<columns>", absl::StrCat(columns)},
                                     {"<padded>", absl::StrCat(columns + 2)},
                                     {"<tiles>", absl::StrCat((columns + 2) / 8)}}));
}

// Tests that the loop over the vectors of a row is unrolled: each row has one test for padding, and its first and last
// vector have constant masks instead of tests.
TEST(ShortLoops, OfPaddingAreWrittenOutWhereMostTilesAreWhole) {
  const std::string text = ModuleText(Padded(30));
  EXPECT_EQ(Count(text, "scf.if"), 1) << text;
  EXPECT_EQ(Count(text, "vector.maskedload"), 2) << text;
  EXPECT_EQ(Count(text, "vector.load"), 2) << text;
  ComputesTheSame(Padded(30));
}

TEST(ShortLoops, OfPaddingRunWhereTheLineWouldBeLong) {
  EXPECT_EQ(Count(ModuleText(Padded(16 * 8 - 2)), "scf.for"), 1);  // the loop over rows
  EXPECT_EQ(Count(ModuleText(Padded(17 * 8 - 2)), "vector.maskedload"), 1);
  ComputesTheSame(Padded(17 * 8 - 2));
}

// Returns the program B[r, j] sum= A[r, k, j] over k < terms, with the eight j in vector lanes and the sums in
// registers.
Program Sums(int64_t terms) {
  return Parsed(absl::StrReplaceAll(R"(
program sums
parameters A, B
buffer A: f32[9, <terms>, 8] input
buffer B: f32[9, 8] output

for r < 9 {
  for k < <terms> {
    for b < 8 vectorized {
      block sum {
        spatial r < 9 = r
        spatial i < 8 = b
        reduction k < <terms> = k
        B[r, i] sum= A[r, k, i]
      }
    }
  }
}
)",
                                    {{"<terms>", absl::StrCat(terms)}}));
}

TEST(ShortLoops, OfAFewTermsAreWrittenOut) {
  EXPECT_EQ(Count(ModuleText(Sums(48)), "scf.for"), 1);  // the loop over rows
  EXPECT_EQ(Count(ModuleText(Sums(49)), "scf.for"), 2);
  ComputesTheSame(Sums(48));
}

// Returns the program T = A + A;  B = T, where each iteration of the outer loop computes `rows` vectors of T and then
// copies them to B.
Program ByTheWay(int64_t rows) {
  return Parsed(absl::StrReplaceAll(R"(
program way
parameters A, B
buffer A: f32[9, <rows>, 8] input
buffer B: f32[9, <rows>, 8] output
buffer T: f32[9, <rows>, 8] temporary stack/thread

for r < 9 {
  for a < <rows> {
    for b < 8 vectorized {
      block there {
        spatial r < 9 = r
        spatial i < <rows> = a
        spatial j < 8 = b
        T[r, i, j] = A[r, i, j] + A[r, i, j]
      }
    }
  }
  for a < <rows> {
    for b < 8 vectorized {
      block back {
        spatial r < 9 = r
        spatial i < <rows> = a
        spatial j < 8 = b
        B[r, i, j] = T[r, i, j]
      }
    }
  }
}
)",
                                    {{"<rows>", absl::StrCat(rows)}}));
}

TEST(ShortLoops, OfWhatRegistersHoldAreWrittenOut) {
  EXPECT_EQ(Count(ModuleText(ByTheWay(4)), "scf.for"), 1);
  EXPECT_EQ(Count(ModuleText(ByTheWay(5)), "scf.for"), 3);
  ComputesTheSame(ByTheWay(4));
}

TEST(UnrollShortLoops, WhatIsGatheredFromIsNotKeptInRegisters) {
  Builder b("gathers");
  const Id X = b.Input("X", DType::kF32, {4}), at = b.Input("at", DType::kI32, {4}),
           Y = b.Output("Y", DType::kF32, {4}), T = b.Temporary("T", DType::kF32, {4});
  const IndexSum i = b.Iter(0);
  b.Compute("made", {{"i", 4}}, {T, {i}}, b.Load(X, {i}));
  b.Compute("read", {{"i", 4}}, {Y, {i}}, b.Gather(T, {b.Cast(DType::kIndex, b.Load(at, {i}))}));
  Program p = WithLoops(b.Finish(), LoopKind::kUnrolled);
  const IndexPlan plan = PlanIndices(p);
  EXPECT_FALSE(KeptInRegisters(p, plan)[T]);
}

}  // namespace
}  // namespace kiln
