#include "lang/graph/with_doubles.h"

#include <gtest/gtest.h>

#include "lang/program/builder.h"
#include "lang/reference/interpreter.h"
#include "tests/support/values.h"

namespace kiln {
namespace {

// Returns the program y[i] = f32(x[i]) / 3 + c[i], of x in f16 and a constant with bytes.
Program Thirds() {
  constexpr DType kF32 = DType::kF32;
  const IndexSum i = Builder::Iter(0);
  Builder b("thirds");
  const Id x = b.Input("x", DType::kF16, {2}), y = b.Output("y", kF32, {2});
  const Id c = b.Constant("c", kF32, {2}, BytesOfValues(std::vector<float>{1, 0.5}));
  b.Compute("third", {{"i", 2}}, {y, {i}},
            b.Add(b.Make(Op::kDiv, kF32, b.Make(Op::kCast, kF32, b.Load(x, {i})), b.Float(kF32, 3)),
                  b.Load(c, {i})));
  return b.Finish();
}

TEST(WithDoubles, RoundsToDoublesAlone) {
  const auto doubles = WithDoubles(Thirds());
  ASSERT_TRUE(doubles.ok()) << doubles.status();
  ASSERT_TRUE(Verify(*doubles).ok()) << Verify(*doubles);

  const auto results = kiln::Run(*doubles, {BytesOfValues(std::vector<double>{1, -2})});

  ASSERT_TRUE(results.ok()) << results.status();
  EXPECT_EQ((*results)[0], BytesOfValues(std::vector<double>{1.0 / 3 + 1, -2.0 / 3 + 0.5}));
}

TEST(WithDoubles, RefusesBitsOfFloats) {
  const IndexSum i = Builder::Iter(0);
  Builder b("bits");
  const Id x = b.Input("x", DType::kF32, {2}), y = b.Output("y", DType::kI32, {2});
  b.Compute("bits", {{"i", 2}}, {y, {i}}, b.Make(Op::kBitcast, DType::kI32, b.Load(x, {i})));
  EXPECT_EQ(WithDoubles(b.Finish()).status().code(), absl::StatusCode::kUnimplemented);
}

}  // namespace
}  // namespace kiln
