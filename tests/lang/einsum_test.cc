// Tests einsum, which turns contractions into matrix products.
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "lang/patterns/contraction.h"
#include "lang/program/builder.h"
#include "testing/same_results.h"

namespace kiln {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;
constexpr auto kI32 = DType::kI32, kF32 = DType::kF32;

// Returns the program C[i, j] sum= A[i + r] * B[r, j]
Program Conv1d() {
  Builder b("conv");
  const Id A = b.Input("A", kI32, {8}), B = b.Input("B", kI32, {3, 8}), C = b.Output("C", kI32, {6, 8});
  const IndexSum i = b.Iter(0), j = b.Iter(1), r = b.Iter(2);
  b.Reduce("conv", {{"i", 6}, {"j", 8}, {"r", 3, IterKind::kReduction}}, Monoid::Kind::kSum, {C, {i, j}},
           b.Mul(b.Load(A, {i + r}), b.Load(B, {r, j})));
  return b.Finish();
}

// Returns the program Y[n, h, w, o] sum= X[n, 2 h + y - 1, w + x, c] * W[y, x, c, o], where X is 0 outside of its
// bounds.
Program Conv2d() {
  Builder b("conv");
  const Id X = b.Input("X", kI32, {2, 6, 5, 2}), W = b.Input("W", kI32, {3, 2, 2, 3}),
           Y = b.Output("Y", kI32, {2, 3, 4, 3});
  const IndexSum n = b.Iter(0), h = b.Iter(1), w = b.Iter(2), o = b.Iter(3), y = b.Iter(4), x = b.Iter(5),
                 c = b.Iter(6);
  const IndexSum row = h * 2 + y + IndexSum::Constant(-1);
  b.Reduce("conv",
           {{"n", 2},
            {"h", 3},
            {"w", 4},
            {"o", 3},
            {"y", 3, IterKind::kReduction},
            {"x", 2, IterKind::kReduction},
            {"c", 2, IterKind::kReduction}},
           Monoid::Kind::kSum, {Y, {n, h, w, o}},
           b.Mul(b.Within({{row, 6}}, b.Load(X, {n, row, w + x, c}), b.Integer(kI32, 0)),
                 b.Load(W, {y, x, c, o})));
  return b.Finish();
}

// Returns the program C[h, i, j] sum= f32(A[h, i, k]) * f32(B[h, j, k])
Program Attention(DType type = DType::kF16) {
  Builder b("scores");
  const Id A = b.Input("A", type, {3, 4, 8}), B = b.Input("B", type, {3, 4, 8}),
           C = b.Output("C", kF32, {3, 4, 4});
  const IndexSum h = b.Iter(0), i = b.Iter(1), j = b.Iter(2), k = b.Iter(3);
  b.Reduce("scores", {{"h", 3}, {"i", 4}, {"j", 4}, {"k", 8, IterKind::kReduction}}, Monoid::Kind::kSum,
           {C, {h, i, j}}, b.Mul(b.Cast(kF32, b.Load(A, {h, i, k})), b.Cast(kF32, b.Load(B, {h, j, k}))));
  return b.Finish();
}

TEST(Einsum, MakesAMatrixProductOfAConvolution) {
  Schedule s = Scheduled(Conv1d());
  const auto [m, n, k] = s.Einsum(s.GetBlock("conv"), {4, 8, 2});
  ASSERT_TRUE(s.ok()) << s.status();
  EXPECT_EQ(s.ExtentOf(m), 8);
  EXPECT_EQ(s.ExtentOf(n), 8);
  EXPECT_EQ(s.ExtentOf(k), 4);
  const std::string text = ToString(s.program());
  EXPECT_THAT(text, HasSubstr("A.mk[m, k] = within((m < 6, k < 3), A[m + k], i32(0))\n"));
  EXPECT_THAT(text, HasSubstr("B.kn[k, n] = within((k < 3), B[k, n], i32(0))\n"));
  EXPECT_THAT(text, HasSubstr("C.mn[m, n] sum= A.mk[m, k]*B.kn[k, n]\n"));
  EXPECT_THAT(text, HasSubstr("C[i, j] = C.mn[i, j]\n"));
  ExpectSameResults(Conv1d(), s.program());
}

TEST(Einsum, ALoopPastItsThreeFailsTheSchedule) {
  Schedule s = Scheduled(Conv1d());
  const auto loops = s.Einsum(s.GetBlock("conv"), {4, 8, 2});
  ASSERT_TRUE(s.ok()) << s.status();
  for (size_t i = 0; i <= loops.size(); ++i) s.Unroll(loops[i]);
  EXPECT_THAT(std::string(s.status().message()), HasSubstr(": \"\" asks for handle 3 of a list of 3"));
}

TEST(Einsum, FusesTheItersOfAConvolutionWithPadding) {
  Schedule s = Scheduled(Conv2d());
  const auto [m, n, k] = s.Einsum(s.GetBlock("conv"), {5, 4, 1});
  ASSERT_TRUE(s.ok()) << s.status();
  EXPECT_EQ(s.ExtentOf(m), 25);
  EXPECT_EQ(s.ExtentOf(n), 4);
  EXPECT_EQ(s.ExtentOf(k), 12);
  ExpectSameResults(Conv2d(), s.program());
}

TEST(Einsum, CopiesNothingThatIsAProductAlready) {
  Schedule s = Scheduled(Attention());
  const Block block = s.GetBlock("scores");
  s.Einsum(block, {4, 2, 4});
  ASSERT_TRUE(s.ok()) << s.status();
  EXPECT_EQ(s.GetLoops(block).size(), 4u);
  EXPECT_THAT(ToString(s.program()), HasSubstr("C[h, m, n] sum= f32(A[h, m, k])*f32(B[h, n, k])\n"));
  ExpectSameResults(Attention(), s.program());
}

TEST(Einsum, RefusesWhatIsNoContraction) {
  const auto refusal = [](const std::function<Id(Builder&, Id, Id)>& value,
                          Monoid::Kind kind = Monoid::Kind::kSum) {
    Builder b("none");
    const Id A = b.Input("A", kI32, {4, 4}), B = b.Input("B", kI32, {4, 4}), C = b.Output("C", kI32, {4, 4});
    b.Reduce("none", {{"i", 4}, {"j", 4}, {"k", 4, IterKind::kReduction}}, kind, {C, {b.Iter(0), b.Iter(1)}},
             value(b, A, B));
    Schedule s = Scheduled(b.Finish());
    s.Einsum(s.GetBlock("none"), {1, 1, 1});
    return Refusal(s);
  };
  const IndexSum i = Builder::Iter(0), j = Builder::Iter(1), k = Builder::Iter(2);
  const auto product = [&](Builder& b, Id A, Id B) { return b.Mul(b.Load(A, {i, k}), b.Load(B, {k, j})); };
  EXPECT_THAT(refusal(product, Monoid::Kind::kMax),
              HasSubstr("block \"none\" is not a sum of products of two factors"));
  EXPECT_THAT(refusal([&](Builder& b, Id A, Id B) { return b.Add(b.Load(A, {i, k}), b.Load(B, {k, j})); }),
              HasSubstr("block \"none\" is not a sum of products of two factors"));
  EXPECT_THAT(refusal([&](Builder& b, Id A, Id B) {
                return b.Mul(b.Add(b.Load(A, {i, k}), b.Load(A, {i, j})), b.Load(B, {k, j}));
              }),
              HasSubstr("a factor of block \"none\" is not a read"));
  EXPECT_THAT(refusal([&](Builder& b, Id A, Id) {
                const Id factor = b.Load(A, {i, k});
                return b.Mul(factor, factor);
              }),
              HasSubstr("the factors of block \"none\" are one"));
  EXPECT_THAT(refusal([&](Builder& b, Id A, Id B) { return b.Mul(b.Load(A, {i, k}), b.Load(B, {i, j})); }),
              HasSubstr("iter k does not index both factors"));
  EXPECT_THAT(refusal([&](Builder& b, Id A, Id B) { return b.Mul(b.Load(A, {i, k}), b.Load(B, {k, i})); }),
              HasSubstr("iter j does not index any factor"));
}

TEST(Einsum, RefusesBlocksThatAreTiled) {
  Schedule s = Scheduled(Conv1d());
  s.Split(s.GetLoops(s.GetBlock("conv"))[0], {kAuto, 2});
  s.Einsum(s.GetBlock("conv"), {1, 1, 1});
  EXPECT_THAT(Refusal(s), HasSubstr("iter i is not one serial loop of its own; einsum comes before tiling"));
  Schedule unit = Scheduled(Conv1d());
  unit.AddUnitLoop(unit.GetBlock("conv"));
  unit.Einsum(unit.GetBlock("conv"), {1, 1, 1});
  EXPECT_THAT(Refusal(unit), HasSubstr("a loop around block \"conv\" binds none of its iters"));
  Schedule malformed = Scheduled(Conv1d());
  malformed.Einsum(malformed.GetBlock("conv"), {1, 0, 1});
  EXPECT_EQ(malformed.status().code(), absl::StatusCode::kInvalidArgument);
}

TEST(MatchContraction, ListsFamiliesByWhatTheyCompute) {
  const auto names = [](const Program& p, const Target& target) {
    std::vector<std::string> names;
    for (const IntrinsicFamily* family : MatchContraction(
             p, p.nodes[kRoot].first == kNone ? kNone : p.nodes.size() - 1, target.matrix_intrinsics()))
      names.push_back(family->name);
    return names;
  };
  Target gpu;
  gpu.name = "cuda";
  EXPECT_THAT(names(Attention(), gpu), ElementsAre("mma.m16n8k16"));
  EXPECT_THAT(names(Attention(DType::kF32), gpu), ElementsAre());
  EXPECT_THAT(names(Conv1d(), Target()), ElementsAre());
}

}  // namespace
}  // namespace kiln
