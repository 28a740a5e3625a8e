#include <cmath>
#include <numeric>

#include "gmock/gmock.h"
#include "lang/program/builder.h"
#include "lang/schedule/schedule.h"
#include "lang/text/text.h"
#include "testing/same_results.h"
#include "tests/lang/restricted.h"
#include "tests/support/golden.h"
#include "tests/support/values.h"

namespace kiln {
namespace {

using ::testing::HasSubstr;

constexpr int64_t kTerms = 1024;

// Returns the program y[i] sum= x[i, k]
Program RowSums(DType type) {
  Builder b("rows");
  const Id x = b.Input("x", type, {2, kTerms}), y = b.Output("y", type, {2});
  const IndexSum i = b.Iter(0), k = b.Iter(1);
  b.Reduce("sum", {{"i", 2}, {"k", kTerms, IterKind::kReduction}}, Monoid::Kind::kSum, {y, {i}},
           b.Load(x, {i, k}));
  return b.Finish();
}

Program Widened(const Program& program, const char* dtype) {
  Schedule s = Scheduled(program);
  s.AccumulateIn(s.GetBlock("sum"), dtype);
  EXPECT_TRUE(s.ok()) << s.status();
  return s.program();
}

TEST(AccumulateIn, ReducesInTheWiderTypeAndRoundsOnce) {
  const std::string text = ToString(Widened(RowSums(DType::kF16), "f32"));
  EXPECT_THAT(text, HasSubstr("y.f32[i] sum= f32(x[i, k])"));
  EXPECT_THAT(text, HasSubstr("y[c0] = f16(y.f32[c0])"));
}

TEST(AccumulateIn, LeavesOneRoundingOfTheManyWithinTheBoundItStates) {
  std::vector<_Float16> x(2 * kTerms);
  for (int64_t i = 0; i < 2 * kTerms; ++i)
    x[i] = static_cast<_Float16>(0.5 + 0.001 * static_cast<double>(i % 37));
  const Program before = RowSums(DType::kF16);
  const auto narrow = ValuesOf<_Float16>((*kiln::Run(before, {BytesOfValues(x)}))[0]);
  const auto wide = ValuesOf<_Float16>((*kiln::Run(Widened(before, "f32"), {BytesOfValues(x)}))[0]);
  constexpr double kEpsilon = 0x1p-11;  // of f16
  for (int64_t row = 0; row < 2; ++row) {
    const double exact = std::accumulate(x.begin() + row * kTerms, x.begin() + (row + 1) * kTerms, 0.0);
    const double one = std::abs(static_cast<double>(wide[row]) - exact),
                 many = std::abs(static_cast<double>(narrow[row]) - exact);
    EXPECT_LE(one, kEpsilon * exact);
    EXPECT_GT(many, 2 * kEpsilon * exact);
    EXPECT_LE(one + many, kEpsilon * kTerms * exact);
  }
}

TEST(AccumulateIn, IsExactForIntegers) {
  for (const Monoid::Kind kind : {Monoid::Kind::kSum, Monoid::Kind::kProduct, Monoid::Kind::kMin}) {
    Builder b("bytes");
    const Id x = b.Input("x", DType::kI8, {3, 50}), y = b.Output("y", DType::kI8, {3});
    b.Reduce("sum", {{"i", 3}, {"k", 50, IterKind::kReduction}}, kind, {y, {b.Iter(0)}},
             b.Load(x, {b.Iter(0), b.Iter(1)}), b.Integer(DType::kI8, 3));
    const Program before = b.Finish();
    ExpectSameResults(before, Widened(before, "i32"));
  }
}

TEST(AccumulateIn, IsRefusedWhereItIsNoLemma) {
  Refusals refusals;
  const auto to = [](const char* dtype) {
    return [=](Schedule& s) { s.AccumulateIn(s.GetBlock("sum"), dtype); };
  };
  refusals.Add("the type is no wider", RowSums(DType::kF32), to("f16"));
  refusals.Add("the type is of another kind", RowSums(DType::kI8), to("f32"));
  refusals.Add("a step has transformed the program", RowSums(DType::kF16), [](Schedule& s) {
    s.Split(s.GetLoops(s.GetBlock("sum"))[0], {2, 1});
    s.AccumulateIn(s.GetBlock("sum"), "f32");
  });
  refusals.Add("the block is not a reduction", Packed(),
               [](Schedule& s) { s.AccumulateIn(s.GetBlock("copy"), "f64"); });
  Builder b("part");
  const Id x = b.Input("x", DType::kF16, {4}), y = b.Output("y", DType::kF16, {8});
  b.Reduce("sum", {{"i", 4}, {"k", 2, IterKind::kReduction}}, Monoid::Kind::kSum, {y, {b.Iter(0)}},
           b.Load(x, {b.Iter(0)}));
  IndexSum rest = b.Iter(0);
  rest.offset = 4;
  b.Reduce("rest", {{"i", 4}, {"k", 2, IterKind::kReduction}}, Monoid::Kind::kSum, {y, {rest}},
           b.Load(x, {b.Iter(0)}));
  refusals.Add("a part of the destination is written", b.Finish(), to("f32"));
  Builder arg("arg");
  const Id values = arg.Input("x", DType::kF16, {8}), best = arg.Output("best", DType::kF16, {1}),
           at = arg.Output("at", DType::kI64, {1});
  arg.Reduce("sum", {{"k", 8, IterKind::kReduction}},
             arg.ArgMonoid(Monoid::Kind::kMax, DType::kF16, DType::kI64),
             {{best, {IndexSum()}}, {at, {IndexSum()}}},
             {arg.Load(values, {arg.Iter(0)}), arg.Cast(DType::kI64, arg.Index(arg.Iter(0)))});
  refusals.Add("it has two results", arg.Finish(), to("f32"));
  ExpectGolden("lang/accumulate_in_refusals.txt", refusals.text());
}

}  // namespace
}  // namespace kiln
