// Tests that PlainExpressions writes expressions that compute the same in one way (lang/graph/plain_expressions.h).
#include "lang/graph/plain_expressions.h"

#include <gmock/gmock.h>

#include <cmath>
#include <cstring>
#include <functional>

#include "lang/analysis/dataflow.h"
#include "lang/program/builder.h"
#include "lang/reference/interpreter.h"
#include "lang/text/text.h"

namespace kiln {
namespace {

using ::testing::HasSubstr;

constexpr DType kF32 = DType::kF32;
constexpr float kInputs[] = {0.0F, -0.0F, 1, -1, 6, 6.5F, -6.5F, INFINITY, -INFINITY, NAN};
constexpr int kCount = std::size(kInputs);

using Value = std::function<Id(Builder& b, Id x)>;

Id Select(Builder& b, Op compare, Id x, Id y, Id then, Id otherwise) {
  return b.Make(Op::kSelect, kF32, b.Make(compare, DType::kI1, x, y), then, otherwise);
}

Program Of(const Value& value) {
  Builder b("net");
  const IndexSum i = Builder::Iter(0);
  const Id x = b.Input("x", kF32, {kCount}), y = b.Output("y", kF32, {kCount});
  b.Compute("f", {{"i", kCount}}, {y, {i}}, value(b, b.Load(x, {i})));
  return b.Finish();
}

std::vector<float> Results(const Program& p) {
  const auto run = kiln::Run(p, {std::string(reinterpret_cast<const char*>(kInputs), sizeof kInputs)});
  EXPECT_TRUE(run.ok()) << run.status();
  std::vector<float> values(kCount);
  if (run.ok()) std::memcpy(values.data(), (*run)[0].data(), sizeof kInputs);
  return values;
}

bool SameBits(float a, float b) {
  return (std::isnan(a) && std::isnan(b)) || std::memcmp(&a, &b, sizeof a) == 0;
}

struct Case {
  Value value;
  std::string plain;
};

TEST(PlainExpressions, KeepEveryBit) {
  const Case cases[] = {
      {[](Builder& b, Id x) { return b.Make(Op::kDiv, kF32, x, b.Float(kF32, 4)); }, "x[i]*f32(0.25)"},
      {[](Builder& b, Id x) { return b.Make(Op::kDiv, kF32, x, b.Float(kF32, 3)); }, "x[i]/f32(3)"},
      {[](Builder& b, Id x) { return b.Mul(b.Float(kF32, 1), x); }, "y[i] = x[i]\n"},
      {[](Builder& b, Id x) { return b.Add(x, b.Float(kF32, -0.0)); }, "y[i] = x[i]\n"},
      {[](Builder& b, Id x) { return b.Make(Op::kSub, kF32, x, b.Float(kF32, 0)); }, "y[i] = x[i]\n"},
      {[](Builder& b, Id x) { return b.Add(x, b.Float(kF32, 0)); }, "x[i] + f32(0)"},
      {[](Builder& b, Id x) { return b.Make(Op::kMin, kF32, x, b.Float(kF32, INFINITY)); }, "y[i] = x[i]\n"},
      // A select that returns NaN for NaN becomes max or min, as x > 0 (or NaN) ? x : 0 becomes max(x, 0).
      {[](Builder& b, Id x) { return Select(b, Op::kCmpUGt, x, b.Float(kF32, 0), x, b.Float(kF32, 0)); },
       "max(x[i], f32(0))"},
      {[](Builder& b, Id x) { return Select(b, Op::kCmpLt, b.Float(kF32, 6), x, b.Float(kF32, 6), x); },
       "min(f32(6), x[i])"},
      // A select that returns the bound for NaN stays: x > 0 ? x : 0 is not max(x, 0), which returns NaN.
      {[](Builder& b, Id x) { return Select(b, Op::kCmpGt, x, b.Float(kF32, 0), x, b.Float(kF32, 0)); },
       "select(gt(x[i], f32(0)), x[i], f32(0))"},
      // A select that returns -0 for -0 stays: x < 0 ? 0 : x is not max(x, 0), which may return 0.
      {[](Builder& b, Id x) { return Select(b, Op::kCmpLt, x, b.Float(kF32, 0), b.Float(kF32, 0), x); },
       "select(lt(x[i], f32(0)), f32(0), x[i])"},
      // A select by i >= 0 becomes its first value, since indices are 0 or more. A select by i >= 1 stays.
      {[](Builder& b, Id x) {
         const Id i = b.Make(Op::kCast, DType::kI64, b.Index(Builder::Iter(0)));
         return Select(b, Op::kCmpGe, i, b.Integer(DType::kI64, 0), x, b.Float(kF32, 6));
       },
       "y[i] = x[i]\n"},
      {[](Builder& b, Id x) {
         return Select(b, Op::kCmpGe, b.Index(Builder::Iter(0)), b.Integer(DType::kIndex, 1), x,
                       b.Float(kF32, 6));
       },
       "select("},
  };
  for (const auto& [value, plain] : cases) {
    const Program before = Of(value);
    Program after = before;
    PlainExpressions expressions(after, /*assume_numbers=*/false);
    expressions.Rewrite(Blocks(after)[0]);
    EXPECT_THAT(ToString(after), HasSubstr(plain));
    EXPECT_EQ(expressions.assumed(), 0);
    const std::vector<float> wanted = Results(before), found = Results(after);
    for (int n = 0; n < kCount; ++n)
      EXPECT_TRUE(SameBits(wanted[n], found[n])) << plain << " of " << kInputs[n];
  }
}

TEST(PlainExpressions, GiveEqualNumbersIfValuesAreNumbers) {
  const Case cases[] = {
      {[](Builder& b, Id x) { return b.Add(x, b.Float(kF32, 0)); }, "y[i] = x[i]\n"},
      {[](Builder& b, Id x) { return Select(b, Op::kCmpGt, x, b.Float(kF32, 0), x, b.Float(kF32, 0)); },
       "max(x[i], f32(0))"},
      {[](Builder& b, Id x) { return Select(b, Op::kCmpULt, x, b.Float(kF32, 0), b.Float(kF32, 0), x); },
       "max(f32(0), x[i])"},
      {[](Builder& b, Id x) { return Select(b, Op::kCmpLe, x, b.Float(kF32, 6), x, b.Float(kF32, 6)); },
       "min(x[i], f32(6))"},
      {[](Builder& b, Id x) { return Select(b, Op::kCmpUGe, x, b.Float(kF32, 6), b.Float(kF32, 6), x); },
       "min(f32(6), x[i])"},
      {[](Builder& b, Id x) { return Select(b, Op::kCmpLt, x, b.Mul(x, x), b.Mul(x, x), x); },
       "max(x[i]*x[i], x[i])"},
  };
  for (const auto& [value, plain] : cases) {
    const Program before = Of(value);
    Program after = before;
    PlainExpressions expressions(after, /*assume_numbers=*/true);
    expressions.Rewrite(Blocks(after)[0]);
    EXPECT_THAT(ToString(after), HasSubstr(plain));
    EXPECT_EQ(expressions.assumed(), 1);
    const std::vector<float> wanted = Results(before), found = Results(after);
    for (int n = 0; n < kCount; ++n) {
      if (!std::isnan(kInputs[n])) EXPECT_EQ(wanted[n], found[n]) << plain << " of " << kInputs[n];
    }
  }
}

}  // namespace
}  // namespace kiln
