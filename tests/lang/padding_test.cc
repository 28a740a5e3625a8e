// Tests the primitives pad-einsum, which pads a contraction to multiples of given sizes and crops the result, and
// decompose-padding, which splits a block that pads into one that fills and one that stores within the bounds.
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "lang/program/builder.h"
#include "testing/same_results.h"

namespace kiln {
namespace {

using ::testing::HasSubstr;
using Spec = std::vector<Builder::IterSpec>;
constexpr auto kI32 = DType::kI32;

Program Matmul(DType t = kI32) {
  Builder b("matmul");
  const Id A = b.Input("A", t, {6, 9}), B = b.Input("B", t, {9, 5}), C = b.Temporary("C", t, {6, 5}),
           D = b.Output("D", t, {6, 5});
  const IndexSum i = b.Iter(0), j = b.Iter(1), k = b.Iter(2);
  b.Reduce("matmul", {{"i", 6}, {"j", 5}, {"k", 9, IterKind::kReduction}}, Monoid::Kind::kSum, {C, {i, j}},
           b.Mul(b.Load(A, {i, k}), b.Load(B, {k, j})));
  b.Compute("copy", {{"i", 6}, {"j", 5}}, {D, {i, j}}, b.Load(C, {i, j}));
  return b.Finish();
}

TEST(PadEinsum, PadsWhatIsReadAndCropsWhatIsWritten) {
  Schedule s = Scheduled(Matmul());
  const Block matmul = s.GetBlock("matmul");
  s.PadEinsum(matmul, {8, 1, 4});
  ASSERT_TRUE(s.ok()) << s.status();
  const std::string text = ToString(s.program());
  EXPECT_THAT(text, HasSubstr("buffer A.pad: i32[8, 12] temporary"));
  EXPECT_THAT(text, HasSubstr("A.pad[c0, c1] = within((c0 < 6, c1 < 9), A[c0, c1], i32(0))"));
  EXPECT_THAT(text, HasSubstr("B.pad[c0, c1] = within((c0 < 9), B[c0, c1], i32(0))"));
  EXPECT_THAT(text, HasSubstr("C.pad[i, j] sum= A.pad[i, k]*B.pad[k, j]"));
  EXPECT_THAT(text, HasSubstr("C[c0, c1] = C.pad[c0, c1]"));
  ExpectSameResults(Matmul(), s.program());
  // The padded loop k has 12 iterations and splits into three perfect tiles of 4.
  const auto k = s.Split(s.GetLoops(matmul)[2], {3, 4});
  s.ReverseComputeAt(s.GetBlock("copy"), s.GetLoops(s.GetBlock("matmul.crop"))[0]);
  ASSERT_TRUE(s.ok()) << s.status();
  EXPECT_EQ(s.ExtentOf(k[0]), 3);
  ExpectSameResults(Matmul(), s.program());
}

TEST(PadEinsum, LeavesAloneWhatFits) {
  Schedule s = Scheduled(Matmul());
  s.PadEinsum(s.GetBlock("matmul"), {2, 5, 3});
  ASSERT_TRUE(s.ok()) << s.status();
  EXPECT_EQ(ToString(s.program()).find(".pad"), std::string::npos);
}

TEST(PadEinsum, RefusesOtherBlocks) {
  Schedule s = Scheduled(Matmul());
  s.PadEinsum(s.GetBlock("copy"), {8, 8});
  EXPECT_THAT(Refusal(s),
              HasSubstr("block \"copy\" is not a sum of products of reads whose indices are distinct iters"));
}

TEST(PadEinsum, RefusesBlocksThatAreTiled) {
  Schedule s = Scheduled(Matmul());
  const Block matmul = s.GetBlock("matmul");
  s.Split(s.GetLoops(matmul)[0], {3, 2});
  s.PadEinsum(matmul, {8, 8, 8});
  EXPECT_THAT(Refusal(s), HasSubstr("iter i is not one loop of its own; pad before tiling"));
}

TEST(PadEinsum, RefusesBlocksThatShareALoopWithTheirReaders) {
  Schedule s = Scheduled(Matmul());
  s.ReverseComputeAt(s.GetBlock("copy"), s.GetLoops(s.GetBlock("matmul"))[0]);
  s.PadEinsum(s.GetBlock("matmul"), {8, 8, 8});
  EXPECT_THAT(Refusal(s), HasSubstr("loop i is also around blocks that it reads from, or that read it"));
}

TEST(PadEinsum, RefusesToMultiplyInfinitiesByZero) {
  Builder b("scaled");
  const Id A = b.Input("A", DType::kF32, {6, 9}), x = b.Input("x", DType::kF32, {6}),
           C = b.Output("C", DType::kF32, {6});
  const IndexSum i = b.Iter(0), k = b.Iter(1);
  b.Reduce("sum", {{"i", 6}, {"k", 9, IterKind::kReduction}}, Monoid::Kind::kSum, {C, {i}},
           b.Mul(b.Load(A, {i, k}), b.Load(x, {i})));
  Schedule s = Scheduled(b.Finish());
  s.PadEinsum(s.GetBlock("sum"), {1, 4});
  EXPECT_THAT(Refusal(s), HasSubstr("iter k does not index x, which may be infinite"));
}

TEST(PadEinsum, RefusesItersThatIndexNothing) {
  // Refuses to pad the iter i of C[0] sum= x[k], i < 1, which does not index the result, and the iter k of C[i] sum=
  // x[i], which indexes nothing.
  const auto refusal = [](bool reads_k, const std::vector<int64_t>& multiples) {
    Builder b("sums");
    const Id x = b.Input("x", kI32, {3}), C = b.Output("C", kI32, {1});
    const IndexSum zero, i = b.Iter(0), k = b.Iter(1);
    b.Reduce("sum", {{"i", 1}, {"k", 3, IterKind::kReduction}}, Monoid::Kind::kSum, {C, {reads_k ? zero : i}},
             b.Load(x, {reads_k ? k : i}));
    Schedule s = Scheduled(b.Finish());
    s.PadEinsum(s.GetBlock("sum"), multiples);
    return Refusal(s);
  };
  EXPECT_THAT(refusal(true, {2, 1}), HasSubstr("iter i does not index the result"));
  EXPECT_THAT(refusal(false, {1, 2}), HasSubstr("iter k indexes nothing"));
}

TEST(PadEinsum, RefusesAnotherNumberOfMultiples) {
  Schedule s = Scheduled(Matmul());
  s.PadEinsum(s.GetBlock("matmul"), {8, 8});
  EXPECT_EQ(s.status().code(), absl::StatusCode::kInvalidArgument);
  EXPECT_THAT(std::string(s.status().message()),
              HasSubstr("there are 2 multiples, and block \"matmul\" has 3 iters"));
}

// Returns the program P[i, j] = (0 <= i-1 < 4, 0 <= j-2 < 5 ? A[i-1, j-2] : 7);  B = P
Program Padded() {
  Builder b("padded");
  const Id A = b.Input("A", kI32, {4, 5}), P = b.Temporary("P", kI32, {6, 9}),
           B = b.Output("B", kI32, {6, 9});
  const IndexSum i = b.Iter(0), j = b.Iter(1), y = i + IndexSum::Constant(-1), x = j + IndexSum::Constant(-2);
  b.Compute("pad", {{"i", 6}, {"j", 9}}, {P, {i, j}},
            b.Within({{y, 4}, {x, 5}}, b.Load(A, {y, x}), b.Integer(kI32, 7)));
  b.Compute("copy", {{"i", 6}, {"j", 9}}, {B, {i, j}}, b.Load(P, {i, j}));
  return b.Finish();
}

TEST(DecomposePadding, FillsAndThenStoresWithinTheBounds) {
  Schedule s = Scheduled(Padded());
  const Block pad = s.GetBlock("pad");
  s.DecomposePadding(pad, s.GetLoops(pad)[0]);
  ASSERT_TRUE(s.ok()) << s.status();
  EXPECT_THAT(ToString(s.program()), HasSubstr(R"(
for i < 6 {
  for j < 9 {
    block pad.fill {
      spatial i < 6 = i
      spatial j < 9 = j
      P[i, j] = i32(7)
      from padding 3
    }
  }
}
for i < 4 {
  for j < 5 {
    block pad {
      spatial i < 6 = i + 1
      spatial j < 9 = j + 2
      domain (i - 1 < 4, j - 2 < 5)
      P[i, j] = A[i - 1, j - 2]
      from compute 3
    }
  }
}
)"));
  ExpectSameResults(Padded(), s.program());
}

TEST(DecomposePadding, KeepsTheResultsOfTiledAndMovedBlocks) {
  for (const int at : {0, 1, 2, 3}) {
    for (const int64_t tile : {2, 4}) {
      Schedule s = Scheduled(Padded());
      const Block pad = s.GetBlock("pad");
      const auto loops = s.GetLoops(pad);
      s.Split(loops[0], {kAuto, tile});
      s.Split(loops[1], {kAuto, tile});
      s.DecomposePadding(pad, s.GetLoops(pad)[at]);
      ASSERT_TRUE(s.ok()) << s.status();
      ExpectSameResults(Padded(), s.program());
    }
  }
  Schedule s = Scheduled(Padded());
  const Block pad = s.GetBlock("pad");
  s.ComputeAt(pad, s.Split(s.GetLoops(s.GetBlock("copy"))[0], {kAuto, 4})[0]);
  s.DecomposePadding(pad, s.GetLoops(pad).back());
  ASSERT_TRUE(s.ok()) << s.status();
  ExpectSameResults(Padded(), s.program());
}

TEST(DecomposePadding, RefusesBlocksThatPadNothing) {
  Schedule s = Scheduled(Padded());
  s.DecomposePadding(s.GetBlock("copy"), s.GetLoops(s.GetBlock("copy"))[0]);
  EXPECT_THAT(Refusal(s), HasSubstr("block \"copy\" does not pad what it stores with a constant"));
}

TEST(DecomposePadding, RefusesWhatIsNeverWithinTheBounds) {
  Builder b("outside");
  const Id x = b.Input("x", DType::kF32, {1}), y = b.Output("y", DType::kF32, {1});
  const IndexSum before = b.Iter(0) * 2 + IndexSum::Constant(-1);
  b.Compute("pad", {{"i", 1}}, {y, {b.Iter(0)}},
            b.Within({{before, 1}}, b.Load(x, {before}), b.Float(DType::kF32, 0)));
  Schedule s = Scheduled(b.Finish());
  s.DecomposePadding(s.GetBlock("pad"), s.GetLoops(s.GetBlock("pad"))[0]);
  EXPECT_THAT(Refusal(s), HasSubstr("block \"pad\" stores the constant everywhere"));
}

TEST(DecomposePadding, RefusesReductions) {
  Schedule s = Scheduled(Matmul());
  s.DecomposePadding(s.GetBlock("matmul"), s.GetLoops(s.GetBlock("matmul"))[0]);
  EXPECT_THAT(Refusal(s), HasSubstr("block \"matmul\" is not a plain store"));
}

TEST(DecomposePadding, RefusesLoopsOfOtherBlocks) {
  Schedule s = Scheduled(Padded());
  s.DecomposePadding(s.GetBlock("pad"), s.GetLoops(s.GetBlock("copy"))[0]);
  EXPECT_THAT(Refusal(s), HasSubstr("loop i is not around block \"pad\""));
}

TEST(DecomposePadding, RefusesWhatIterationsThatRunAtOnceRepeat) {
  Program p = Padded();
  const Id nest = p.nodes[kRoot].first, again = p.AddLoop("again", 2, LoopKind::kParallel);
  p.Replace(nest, again);
  p.Append(again, nest);
  Schedule s = Scheduled(std::move(p));
  s.DecomposePadding(s.GetBlock("pad"), s.GetLoops(s.GetBlock("pad"))[1]);
  EXPECT_THAT(Refusal(s), HasSubstr("iterations of loop again, which is parallel, repeat it"));
}

TEST(DecomposePadding, RefusesToPadTwice) {
  Schedule s = Scheduled(Padded());
  const Block pad = s.GetBlock("pad");
  s.DecomposePadding(s.DecomposePadding(pad, s.GetLoops(pad)[0]), s.GetLoops(s.GetBlock("pad.fill"))[0]);
  EXPECT_THAT(Refusal(s), HasSubstr("does not pad what it stores with a constant"));
}

}  // namespace
}  // namespace kiln
