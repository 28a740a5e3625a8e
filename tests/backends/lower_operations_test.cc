// Tests compiled integer operations, and maxima and minima of NaN and zeros: results equal the interpreter's, in scalar
// code and in vectors of which the last is not full.
#include <gtest/gtest.h>

#include <limits>

#include "lang/program/builder.h"
#include "lang/reference/interpreter.h"
#include "testing/compiled/run_program.h"
#include "testing/scheduled.h"
#include "tests/support/values.h"

namespace kiln {
namespace {

constexpr int kCount = 13;

// Returns the program Y[i] = op(A[i], B[i]) for 13 elements, or Y[i] = op(A[i]) if the operation has one operand.
Program Map(Op op, DType type) {
  Builder b("map");
  const Id A = b.Input("A", type, {kCount}), B = b.Input("B", type, {kCount}),
           Y = b.Output("Y", type, {kCount});
  const IndexSum i = b.Iter(0);
  const Id a = b.Load(A, {i});
  b.Compute("map", {{"i", kCount}}, {Y, {i}},
            Arity(op) == 1 ? b.Make(op, type, a) : b.Make(op, type, a, b.Load(B, {i})));
  return b.Finish();
}

Program Reduction(Monoid::Kind kind, DType type) {
  Builder b("reduction");
  const Id A = b.Input("A", type, {kCount}), B = b.Input("B", type, {kCount}), Y = b.Output("Y", type, {});
  const Id product = b.Make(Op::kMax, type, b.Load(A, {b.Iter(0)}), b.Load(B, {b.Iter(0)}));
  b.Reduce("reduction", {{"i", kCount, IterKind::kReduction}}, kind, {Y, {}}, product);
  return b.Finish();
}

// Returns the outputs with each f32 NaN replaced by the same NaN, so that they can be compared as bytes: the bits of a
// NaN are unspecified.
std::vector<std::string> WithOneNaN(const Program& p, std::vector<std::string> outputs) {
  for (std::string& bytes : outputs) {
    if (p.buffers[p.parameters.back()].dtype != DType::kF32) continue;
    std::vector<float> values = ValuesOf<float>(bytes);
    for (float& value : values) value = std::isnan(value) ? std::numeric_limits<float>::quiet_NaN() : value;
    bytes = BytesOfValues(values);
  }
  return outputs;
}

void ExpectCompiledAgrees(const Program& p, const std::vector<std::string>& inputs) {
  const Id block = p.nodes[p.nodes[kRoot].first].first;
  for (const int64_t lanes : {1, 4, 5, 13}) {
    Schedule s = Scheduled(p);
    const Loop loop = s.GetLoops(s.GetBlock(p.Text(p.block(block).name)))[0];
    if (lanes > 1) s.Vectorize(s.Split(loop, {kAuto, lanes})[1]);
    ASSERT_TRUE(s.ok()) << s.status();
    const auto wanted = kiln::Run(p, inputs);
    ASSERT_TRUE(wanted.ok()) << wanted.status();
    std::vector<std::string> found;
    EXPECT_EQ(RunCompiled(s.program(), inputs, &found), 0);
    EXPECT_EQ(WithOneNaN(p, found), WithOneNaN(p, *wanted)) << lanes << " lanes";
  }
}

TEST(LowerOperations, DivideShiftAndCombineBitsOfIntegers) {
  const std::vector<int32_t> a = {7, -7, 7, -7, 0, 1, -1, 100, 2147483647, -2147483647 - 1, 12, 5, -6},
                             b = {2, 2, -2, -2, 5, 31, 3, 7, 30, 2, 4, 1, 4};
  const auto shifts = [](std::vector<int32_t> counts) {
    for (int32_t& c : counts) c &= 31;
    return counts;
  };
  for (const Op op : {Op::kDiv, Op::kRem, Op::kDivU, Op::kRemU, Op::kFloorDiv, Op::kCeilDiv, Op::kAnd,
                      Op::kOr,  Op::kXor, Op::kShl,  Op::kShr,  Op::kShrU,     Op::kMaxU,    Op::kMinU,
                      Op::kMax, Op::kMin, Op::kSub,  Op::kAbs,  Op::kNeg,      Op::kNot}) {
    SCOPED_TRACE(ToString(op));
    const bool shift = op == Op::kShl || op == Op::kShr || op == Op::kShrU;
    ExpectCompiledAgrees(Map(op, DType::kI32),
                         {BytesOfValues<int32_t>(a), BytesOfValues<int32_t>(shift ? shifts(b) : b)});
  }
}

TEST(LowerOperations, DivideAndCompareBytesWithoutSign) {
  const std::vector<uint8_t> a = {255, 254, 128, 127, 0, 1, 200, 100, 99, 250, 129, 3, 255},
                             b = {254, 255, 3, 128, 255, 2, 7, 200, 100, 1, 128, 8, 255};
  for (const Op op : {Op::kDiv, Op::kRem, Op::kDivU, Op::kRemU, Op::kFloorDiv, Op::kCeilDiv, Op::kMax,
                      Op::kMin, Op::kAbs}) {
    SCOPED_TRACE(ToString(op));
    ExpectCompiledAgrees(Map(op, DType::kU8), {BytesOfValues<uint8_t>(a), BytesOfValues<uint8_t>(b)});
  }
}

TEST(LowerOperations, MaximaAndMinimaOfZerosAreTheInterpreters) {
  const std::vector<float> a = {-0.0F, 0, -0.0F, 0, 1, -1, -0.0F, 0, 0, -0.0F, 1, 2, 3},
                           b = {0, -0.0F, -0.0F, 0, -0.0F, 0, 1, -1, -0.0F, 0, 2, 1, -0.0F};
  for (const Op op : {Op::kMax, Op::kMin}) {
    SCOPED_TRACE(ToString(op));
    ExpectCompiledAgrees(Map(op, DType::kF32), {BytesOfValues<float>(a), BytesOfValues<float>(b)});
  }
}

TEST(LowerOperations, MaximaAndMinimaOfNaNAreTheInterpreters) {
  const float nan = std::numeric_limits<float>::quiet_NaN(), inf = std::numeric_limits<float>::infinity();
  const std::vector<float> a = {nan, 1, nan, -inf, inf, 0, 3, 4, 5, -6, 7, 8, nan},
                           b = {1, nan, nan, nan, 2, 1, -3, 4, -inf, 6, inf, 8, 9};
  const std::vector<std::string> inputs = {BytesOfValues<float>(a), BytesOfValues<float>(b)};
  for (const Op op : {Op::kMax, Op::kMin, Op::kMaxNum, Op::kMinNum}) {
    SCOPED_TRACE(ToString(op));
    const Program p = Map(op, DType::kF32);
    ExpectCompiledAgrees(p, inputs);
    const auto values = ValuesOf<float>((*kiln::Run(p, inputs))[0]);
    EXPECT_EQ(std::isnan(values[0]), op == Op::kMax || op == Op::kMin);
    EXPECT_TRUE(std::isnan(values[2]));
  }
}

TEST(LowerOperations, ReductionsOfIntegersAndOfNaNAreTheInterpreters) {
  const std::vector<int32_t> a = {7, -7, 7, -7, 0, 1, -1, 100, 21, -21, 12, 5, -6};
  for (const auto kind : {Monoid::Kind::kSum, Monoid::Kind::kProduct, Monoid::Kind::kMin, Monoid::Kind::kMax,
                          Monoid::Kind::kAnd, Monoid::Kind::kOr}) {
    SCOPED_TRACE(ToString(kind));
    ExpectCompiledAgrees(Reduction(kind, DType::kI32),
                         {BytesOfValues<int32_t>(a), BytesOfValues<int32_t>(a)});
  }
  std::vector<float> f = {3, 1, 4, 1, 5, 9, 2, 6, 5, 3, 5, 8, 9};
  for (const auto kind : {Monoid::Kind::kMin, Monoid::Kind::kMax}) {
    for (const bool with_nan : {false, true}) {
      f[11] = with_nan ? std::numeric_limits<float>::quiet_NaN() : 8;
      const std::vector<std::string> inputs = {BytesOfValues<float>(f), BytesOfValues<float>(f)};
      ExpectCompiledAgrees(Reduction(kind, DType::kF32), inputs);
      EXPECT_EQ(std::isnan(ValuesOf<float>((*kiln::Run(Reduction(kind, DType::kF32), inputs))[0])[0]),
                with_nan);
    }
  }
}

}  // namespace
}  // namespace kiln
