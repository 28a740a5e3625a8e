#include "lang/reference/interpreter.h"

#include <cmath>
#include <cstring>
#include <limits>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "lang/program/builder.h"
#include "lang/schedule/schedule.h"
#include "testing/scheduled.h"
#include "tests/support/values.h"

namespace kiln {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
constexpr double kInf = std::numeric_limits<double>::infinity();
constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

Program Matmul(int64_t m, int64_t n, int64_t k, DType type = DType::kF32) {
  Builder b("matmul");
  const Id A = b.Input("A", type, {m, k}), B = b.Input("B", type, {k, n}), C = b.Output("C", type, {m, n});
  const IndexSum i = b.Iter(0), j = b.Iter(1), l = b.Iter(2);
  b.Reduce("matmul", {{"i", m}, {"j", n}, {"k", k, IterKind::kReduction}}, Monoid::Kind::kSum, {C, {i, j}},
           b.Mul(b.Load(A, {i, l}), b.Load(B, {l, j})));
  return b.Finish();
}

// Returns the array out[i] = f(in[i]) as the interpreter computes it. `value` builds the expression f.
template <typename Out, typename In, typename MakeValue>
std::vector<Out> Map(DType out_type, DType in_type, const std::vector<In>& in, MakeValue value) {
  Builder b("map");
  const auto n = static_cast<int64_t>(in.size());
  const Id A = b.Input("A", in_type, {n}), B = b.Output("B", out_type, {n});
  b.Compute("map", {{"i", n}}, {B, {b.Iter(0)}}, value(b, b.Load(A, {b.Iter(0)})));
  return ValuesOf<Out>(kiln::Run(b.Finish(), {BytesOfValues(in)}).value()[0]);
}

TEST(Interpreter, MultipliesMatrices) {
  const Program p = Matmul(2, 2, 3);
  const auto out =
      kiln::Run(p, {BytesOfValues<float>({1, 2, 3, 4, 5, 6}), BytesOfValues<float>({1, 0, 0, 1, 1, 1})});
  ASSERT_TRUE(out.ok()) << out.status();
  EXPECT_THAT(ValuesOf<float>((*out)[0]), ElementsAre(4, 5, 10, 11));
}

TEST(Interpreter, EvaluatesLoadsOfPaddingOnlyInside) {
  // The load runs only where its index is inside of A: out[i] = Σ_{k < 3} (0 <= i + k - 1 < 4 ? A[i + k - 1] : 0)
  Builder b("conv");
  const Id A = b.Input("A", DType::kF32, {4}), B = b.Output("B", DType::kF32, {4});
  IndexSum at = b.Iter(0) + b.Iter(1);
  at.offset = -1;
  b.Reduce("conv", {{"i", 4}, {"k", 3, IterKind::kReduction}}, Monoid::Kind::kSum, {B, {b.Iter(0)}},
           b.Within({{at, 4}}, b.Load(A, {at}), b.Float(DType::kF32, 0)));
  const auto out = kiln::Run(b.Finish(), {BytesOfValues<float>({1, 2, 3, 4})});
  ASSERT_TRUE(out.ok()) << out.status();
  EXPECT_THAT(ValuesOf<float>((*out)[0]), ElementsAre(3, 6, 9, 7));
}

TEST(Interpreter, PoolsByMaximum) {
  Builder b("pool");
  const Id A = b.Input("A", DType::kF32, {6}), B = b.Output("B", DType::kF32, {3});
  b.Reduce("pool", {{"i", 3}, {"k", 2, IterKind::kReduction}}, Monoid::Kind::kMax, {B, {b.Iter(0)}},
           b.Load(A, {b.Iter(0) * 2 + b.Iter(1)}));
  const auto out = kiln::Run(b.Finish(), {BytesOfValues<float>({-5, -7, 0, 2, 9, 1})});
  EXPECT_THAT(ValuesOf<float>((*out)[0]), ElementsAre(-5, 2, 9));
}

TEST(Interpreter, RunsAChainThroughTemporaries) {
  // Runs the softmax of one row, as four blocks with three temporaries.
  Builder b("softmax");
  const DType t = DType::kF64;
  const Id A = b.Input("A", t, {4}), M = b.Temporary("M", t, {}), E = b.Temporary("E", t, {4}),
           S = b.Temporary("S", t, {}), B = b.Output("B", t, {4});
  const IndexSum i = b.Iter(0);
  const std::vector<Builder::IterSpec> reduce{{"i", 4, IterKind::kReduction}}, each{{"i", 4}};
  b.Reduce("max", reduce, Monoid::Kind::kMax, {M, {}}, b.Load(A, {i}));
  b.Compute("exp", each, {E, {i}}, b.Make(Op::kExp, t, b.Make(Op::kSub, t, b.Load(A, {i}), b.Load(M, {}))));
  b.Reduce("sum", reduce, Monoid::Kind::kSum, {S, {}}, b.Load(E, {i}));
  b.Compute("div", each, {B, {i}}, b.Make(Op::kDiv, t, b.Load(E, {i}), b.Load(S, {})));
  const auto out = ValuesOf<double>(kiln::Run(b.Finish(), {BytesOfValues<double>({1, 1, 1, 1})}).value()[0]);
  EXPECT_THAT(out, ElementsAre(0.25, 0.25, 0.25, 0.25));
}

TEST(Interpreter, RoundsEveryOperationToItsType) {
  const auto third = [](Builder& b, Id x) {
    return b.Make(Op::kDiv, DType::kF32, x, b.Float(DType::kF32, 3));
  };
  EXPECT_THAT((Map<float, float>(DType::kF32, DType::kF32, {1, 7}, third)), ElementsAre(1.0f / 3, 7.0f / 3));
}

TEST(Interpreter, RoundsHalvesToNearestEven) {
  const auto cast = [](Builder& b, Id x) { return b.Cast(DType::kF16, x); };
  // Rounds doubles to f16. 65520 is halfway from the largest number to infinity, 2^-25 halfway from 0 to the least
  // subnormal, and 2049 and 2051 are halfway between their neighbors.
  EXPECT_THAT(
      (Map<uint16_t, double>(
          DType::kF16, DType::kF64,
          {1, -2, 65504, 65519.99, 65520, 0x1p-24, 0x1p-25, 0x1.8p-25, 0.1, 2049, 2051, kInf, -0.0}, cast)),
      ElementsAre(0x3c00, 0xc000, 0x7bff, 0x7bff, 0x7c00, 0x0001, 0x0000, 0x0001, 0x2e66, 0x6800, 0x6802,
                  0x7c00, 0x8000));
}

TEST(Interpreter, RoundsBrainFloatsToNearestEven) {
  const auto cast = [](Builder& b, Id x) { return b.Cast(DType::kBF16, x); };
  EXPECT_THAT(
      (Map<uint16_t, double>(DType::kBF16, DType::kF64, {1, 257, 259, 0.1, 3.4e38, 0x1p-133, kNaN}, cast)),
      ElementsAre(0x3f80, 0x4380, 0x4382, 0x3dcd, 0x7f80, 0x0001, 0x7fc0));
}

TEST(Interpreter, HalvesComeBackFromMemory) {
  const auto cast = [](Builder& b, Id x) { return b.Cast(DType::kF32, x); };
  EXPECT_THAT(
      (Map<float, uint16_t>(DType::kF32, DType::kF16, {0x3c00, 0x0001, 0x7bff, 0xfc00, 0x2e66}, cast)),
      ElementsAre(1.0f, 0x1p-24f, 65504.0f, -kInf, 0x1.998p-4f));
}

TEST(Interpreter, IntegersWrap) {
  const auto twice = [](Builder& b, Id x) { return b.Add(x, x); };
  EXPECT_THAT((Map<int8_t, int8_t>(DType::kI8, DType::kI8, {100, -100}, twice)), ElementsAre(-56, 56));
  EXPECT_THAT((Map<int32_t, int32_t>(DType::kI32, DType::kI32, {2000000000}, twice)),
              ElementsAre(-294967296));
}

TEST(Interpreter, CastsOfIntegersExtendTheirSign) {
  const auto cast = [](Builder& b, Id x) { return b.Cast(DType::kI32, x); };
  EXPECT_THAT((Map<int32_t, int8_t>(DType::kI32, DType::kI8, {-1}, cast)), ElementsAre(-1));
  EXPECT_THAT((Map<int32_t, uint8_t>(DType::kI32, DType::kU8, {255}, cast)), ElementsAre(255));
  const auto unsigned_cast = [](Builder& b, Id x) { return b.Make(Op::kCastUnsigned, DType::kI32, x); };
  EXPECT_THAT((Map<int32_t, int8_t>(DType::kI32, DType::kI8, {-1}, unsigned_cast)), ElementsAre(255));
  const auto narrow = [](Builder& b, Id x) { return b.Cast(DType::kI8, x); };
  EXPECT_THAT((Map<int8_t, int32_t>(DType::kI8, DType::kI32, {300, -129}, narrow)), ElementsAre(44, 127));
}

TEST(Interpreter, MaximumPropagatesNaNAndMaxNumPrefersTheNumber) {
  const auto max = [](Builder& b, Id x) { return b.Make(Op::kMax, DType::kF64, x, b.Float(DType::kF64, 0)); };
  const auto max_num = [](Builder& b, Id x) {
    return b.Make(Op::kMaxNum, DType::kF64, x, b.Float(DType::kF64, 0));
  };
  EXPECT_TRUE(std::isnan(Map<double, double>(DType::kF64, DType::kF64, {kNaN}, max)[0]));
  EXPECT_EQ((Map<double, double>(DType::kF64, DType::kF64, {kNaN}, max_num)[0]), 0);
  EXPECT_FALSE(std::signbit(Map<double, double>(DType::kF64, DType::kF64, {-0.0}, max)[0]));
}

TEST(Interpreter, ComparesAndSelects) {
  const auto clamp = [](Op op) {
    return [op](Builder& b, Id x) {
      const Id zero = b.Float(DType::kF64, 0);
      return b.Make(Op::kSelect, DType::kF64, b.Make(op, DType::kI1, x, zero), x, zero);
    };
  };
  EXPECT_THAT((Map<double, double>(DType::kF64, DType::kF64, {-2, 3}, clamp(Op::kCmpGt))), ElementsAre(0, 3));
  EXPECT_EQ((Map<double, double>(DType::kF64, DType::kF64, {kNaN}, clamp(Op::kCmpGt))[0]), 0);
  EXPECT_TRUE(std::isnan(Map<double, double>(DType::kF64, DType::kF64, {kNaN}, clamp(Op::kCmpUGt))[0]));
}

TEST(Interpreter, InstancesOutsideOfImperfectTilesDoNotExist) {
  Builder b("sum");
  const Id A = b.Input("A", DType::kF64, {10}), S = b.Output("S", DType::kF64, {});
  b.Reduce("sum", {{"i", 10, IterKind::kReduction}}, Monoid::Kind::kSum, {S, {}}, b.Load(A, {b.Iter(0)}));
  Schedule s = Scheduled(b.Finish());
  s.Split(s.GetLoops(s.GetBlock("sum"))[0], {4, 3});
  ASSERT_TRUE(s.ok()) << s.status();
  const auto out = kiln::Run(s.program(), {BytesOfValues<double>({1, 2, 3, 4, 5, 6, 7, 8, 9, 10})});
  EXPECT_THAT(ValuesOf<double>(out.value()[0]), ElementsAre(55));
}

TEST(Interpreter, ReductionsStartAnewEachTimeTheOutermostLoopThatFeedsThemIsEntered) {
  // The sum starts anew in each iteration of u, so that the result is one sum of A: for u < 2: for k < 3: S sum= A[k]
  Builder b("sum");
  const Id A = b.Input("A", DType::kF64, {3}), S = b.Output("S", DType::kF64, {});
  const Id block =
      b.Reduce("sum", {{"k", 3, IterKind::kReduction}}, Monoid::Kind::kSum, {S, {}}, b.Load(A, {b.Iter(0)}));
  Program p = b.Finish();
  const Id k = p.nodes[block].parent, u = p.AddLoop("u", 2);
  p.Replace(k, u);
  p.Append(u, k);
  EXPECT_THAT(ValuesOf<double>(kiln::Run(p, {BytesOfValues<double>({1, 2, 3})}).value()[0]), ElementsAre(6));
}

TEST(Interpreter, CombinesTheInitialValueOnce) {
  Builder b("sum");
  const Id A = b.Input("A", DType::kF64, {3}), S = b.Output("S", DType::kF64, {});
  b.Reduce("sum", {{"k", 3, IterKind::kReduction}}, Monoid::Kind::kSum, {S, {}}, b.Load(A, {b.Iter(0)}),
           b.Float(DType::kF64, 10));
  EXPECT_THAT(ValuesOf<double>(kiln::Run(b.Finish(), {BytesOfValues<double>({1, 2, 3})}).value()[0]),
              ElementsAre(16));
}

TEST(Interpreter, ReadingWhatIsNotWrittenIsAnError) {
  Builder b("early");
  const Id A = b.Input("A", DType::kF64, {3}), T = b.Temporary("T", DType::kF64, {3}),
           B = b.Output("B", DType::kF64, {3});
  const IndexSum i = b.Iter(0);
  const Id first = b.Compute("write", {{"i", 2}}, {T, {i}}, b.Load(A, {i}));
  b.Compute("read", {{"i", 3}}, {B, {i}}, b.Load(T, {i}));
  ASSERT_NE(first, kNone);
  const auto out = kiln::Run(b.program(), {BytesOfValues<double>({1, 2, 3})});
  EXPECT_EQ(out.status().code(), absl::StatusCode::kInternal);
  EXPECT_THAT(std::string(out.status().message()),
              HasSubstr("block \"read\" reads what is not written yet: T[2]"));
}

TEST(Interpreter, ReadingOutOfBoundsIsAnError) {
  Builder b("far");
  const Id A = b.Input("A", DType::kF64, {3}), B = b.Output("B", DType::kF64, {3});
  b.Compute("far", {{"i", 3}}, {B, {b.Iter(0)}}, b.Load(A, {b.Iter(0) * 2}));
  const auto out = kiln::Run(b.program(), {BytesOfValues<double>({1, 2, 3})});
  EXPECT_THAT(std::string(out.status().message()), HasSubstr("block \"far\" reads out of bounds: A[4]"));
}

TEST(Interpreter, InputsHaveTheSizeOfTheirParameters) {
  const auto out =
      kiln::Run(Matmul(2, 2, 3), {BytesOfValues<float>({1, 2, 3, 4, 5, 6}), std::string(4, '\0')});
  EXPECT_EQ(out.status().code(), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(out.status().message(), "input B has 4 bytes, wanted 24");
}

}  // namespace
}  // namespace kiln
