// Tests SignsOf, which finds whether the operations of a program read integers of a buffer as signed or unsigned, and
// how exported C headers declare these buffers.
#include "backends/export/signs.h"

#include <gtest/gtest.h>

#include <utility>

#include "absl/strings/match.h"
#include "backends/export/header.h"
#include "lang/program/builder.h"

namespace kiln {
namespace {

// Returns the program T = X;  Y = op(T, W);  Z = Y on eight i8, where Y and Z have the type `result`.
Program OfIntegers(Op op, DType result) {
  Builder b("g");
  const Id X = b.Input("X", DType::kI8, {8}), W = b.Input("W", DType::kI8, {8}),
           Y = b.Output("Y", result, {8}), Z = b.Output("Z", result, {8}),
           T = b.Temporary("T", DType::kI8, {8});
  const std::vector<IndexSum> i = {b.Iter(0)};
  b.Compute("copy", {{"i", 8}}, {T, i}, b.Load(X, i));
  b.Compute("made", {{"i", 8}}, {Y, i}, b.Make(op, result, b.Load(T, i), b.Load(W, i)));
  b.Compute("again", {{"i", 8}}, {Z, i}, b.Load(Y, i));
  return b.Finish();
}

TEST(Signs, TheHeaderSaysWhichIntegersHaveASign) {
  const BuildResult built;
  const auto header = [&](Op op) { return HeaderText(OfIntegers(op, DType::kI8), built, "g", "tests"); };
  const std::string without = header(Op::kDivU), with = header(Op::kMax), neither = header(Op::kXor);
  EXPECT_TRUE(absl::StrContains(without, " *   X  input i8[8] (unsigned)\n")) << without;
  EXPECT_TRUE(absl::StrContains(without,
                                "int g(const uint8_t* X,\n      const uint8_t* W,\n      uint8_t* Y,\n"
                                "      uint8_t* Z);\n"))
      << without;
  EXPECT_TRUE(absl::StrContains(with, " *   Z  output i8[8] (signed)\n")) << with;
  EXPECT_TRUE(absl::StrContains(with, "int g(const int8_t* X,")) << with;
  EXPECT_TRUE(absl::StrContains(neither, " *   X  input i8[8]\n")) << neither;
  EXPECT_TRUE(absl::StrContains(neither, "int g(const int8_t* X,")) << neither;
  constexpr absl::string_view kBits = "Integers called neither signed nor unsigned are bits";
  EXPECT_TRUE(absl::StrContains(neither, kBits)) << neither;
  EXPECT_FALSE(absl::StrContains(with, kBits)) << with;
}

TEST(Signs, IntegersThatAreReadInBothWaysHaveNoSign) {
  Builder b("both");
  const Id X = b.Input("X", DType::kI16, {8}), Y = b.Output("Y", DType::kI16, {8}),
           Z = b.Output("Z", DType::kI64, {});
  const std::vector<IndexSum> i = {b.Iter(0)};
  const Id x = b.Load(X, i);
  b.Compute("made", {{"i", 8}}, {Y, i}, b.Make(Op::kMinU, DType::kI16, x, b.Make(Op::kAbs, DType::kI16, x)));
  b.Reduce("most", {{"i", 8, IterKind::kReduction}}, Monoid::Kind::kMax, {Z, {}}, b.Cast(DType::kI64, x));
  const Program p = b.Finish();
  const std::vector<Sign> signs = SignsOf(p);
  EXPECT_EQ(signs[X], Sign::kUnsaid);
  EXPECT_EQ(signs[Y], Sign::kUnsigned);
  EXPECT_EQ(signs[Z], Sign::kSigned);
}

TEST(Signs, ChoicesThatShareWhatTheyChooseFromAreVisitedOnce) {
  Builder b("shared");
  const Id X = b.Input("X", DType::kI8, {8}), Y = b.Output("Y", DType::kI8, {8});
  Id last = b.Load(X, {b.Iter(0)}), before = last;
  for (int n = 0; n < 60; ++n) {
    const Id next = b.Make(Op::kSelect, DType::kI8, b.Integer(DType::kI1, n % 2), last, before);
    before = std::exchange(last, next);
  }
  b.Compute("half", {{"i", 8}}, {Y, {b.Iter(0)}}, b.Make(Op::kDivU, DType::kI8, last, before));
  EXPECT_EQ(SignsOf(b.Finish())[X], Sign::kUnsigned);
}

}  // namespace
}  // namespace kiln
