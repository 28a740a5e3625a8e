// skip-padding: sums of products whose factors have zeros around them assume that they are finite.
#include <gtest/gtest.h>

#include "lang/program/builder.h"
#include "tests/support/expect_module.h"

namespace kiln {
namespace {

// P = X with one `around` on each side, or a copy of it; C[h] = P[h + i] * W[i] over three i, or the largest
// of the products.
Program Window(Monoid::Kind monoid, double around, bool copied = false) {
  Builder b("window");
  const Id x = b.Input("X", DType::kF32, {14}), w = b.Input("W", DType::kF32, {3}),
           c = b.Output("C", DType::kF32, {14}), padded = b.Temporary("P", DType::kF32, {16});
  const Sum y = b.Iter(0) + Sum::Constant(-1);
  b.Compute("pad", {{"y", 16}}, {padded, {b.Iter(0)}},
            b.Within({{y, 14}}, b.Load(x, {y}), b.Float(DType::kF32, around)));
  Id read = padded;
  if (copied) {
    read = b.Temporary("Q", DType::kF32, {16});
    b.Compute("copy", {{"y", 16}}, {read, {b.Iter(0)}}, b.Load(padded, {b.Iter(0)}));
  }
  b.Reduce("conv", {{"h", 14}, {"i", 3, IterKind::kReduction}}, monoid, {c, {b.Iter(0)}},
           b.Mul(b.Load(read, {b.Iter(0) + b.Iter(1)}), b.Load(w, {b.Iter(1)})));
  return b.Finish();
}

constexpr char kSpace[] = "skip-padding";

TEST(SkipPadding, SaysThatFactorsWithZerosAroundThemAreFinite) {
  ExpectModule("skip_padding", kSpace, Window(Monoid::Kind::kSum, 0));
}

TEST(SkipPadding, SeesZerosThroughCopies) {
  EXPECT_NE(SketchesText(kSpace, Window(Monoid::Kind::kSum, 0, true)).find("assume-finite"),
            std::string::npos);
}

TEST(SkipPadding, LeavesOtherReductionsAndOtherValues) {
  EXPECT_EQ(SketchesText(kSpace, Window(Monoid::Kind::kMax, 0)).find("assume-finite"), std::string::npos);
  EXPECT_EQ(SketchesText(kSpace, Window(Monoid::Kind::kSum, 1)).find("assume-finite"), std::string::npos);
}

}  // namespace
}  // namespace kiln
