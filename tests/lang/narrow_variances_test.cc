// Tests NarrowVariances: variances that an exporter computes in f64 are computed in f32.
#include "lang/graph/narrow_variances.h"

#include <gmock/gmock.h>

#include <cmath>
#include <cstring>

#include "lang/program/builder.h"
#include "lang/reference/interpreter.h"
#include "lang/text/text.h"

namespace kiln {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

constexpr DType kF32 = DType::kF32, kF64 = DType::kF64;
constexpr int64_t kRows = 3, kTerms = 48;
const IndexSum i = Builder::Iter(0), j = Builder::Iter(1), k = Builder::Iter(2), zero = IndexSum::Constant(0);

enum class Change { kNone, kDividesByLess, kOtherRow, kIsRead };

// Returns a program that computes the variance of each row of X in f64, as torch-mlir writes it. With a `change`, it
// computes something else than a variance, or its mean is a result, too.
Program Variance(Change change) {
  Builder b("net");
  const Id x = b.Input("x", kF32, {1, kRows, kTerms}), y = b.Output("y", kF32, {1, kRows, 1});
  const Id c = b.Temporary("c", kF64, {1, kRows, kTerms}), s = b.Temporary("s", kF64, {1, kRows, 1}),
           m = b.Temporary("m", kF64, {1, kRows, 1}), d = b.Temporary("d", kF64, {1, kRows, kTerms}),
           q = b.Temporary("q", kF64, {1, kRows, kTerms}), v = b.Temporary("v", kF64, {1, kRows, 1}),
           w = b.Temporary("w", kF64, {1, kRows, 1});
  const std::vector<Builder::IterSpec> all = {{"i", 1}, {"j", kRows}, {"k", kTerms}},
                                       rows = {{"i", 1}, {"j", kRows}, {"k", 1}},
                                       sum = {{"i", 1}, {"j", kRows}, {"k", kTerms, IterKind::kReduction}};
  const Id n = b.Float(kF64, kTerms);
  b.Compute("cast", all, {c, {i, j, k}}, b.Make(Op::kCast, kF64, b.Load(x, {i, j, k})));
  b.Reduce("sum", sum, Monoid::Kind::kSum, {s, {i, j, zero}}, b.Load(c, {i, j, k}));
  b.Compute("mean", rows, {m, {i, j, k}},
            b.Make(Op::kDiv, kF64, b.Load(s, {i, j, k}),
                   change == Change::kDividesByLess ? b.Float(kF64, kTerms - 1) : n));
  const IndexSum row = change == Change::kOtherRow ? IndexSum::Constant(kRows - 1) + j * -1 : j;
  b.Compute("deviation", all, {d, {i, j, k}},
            b.Make(Op::kSub, kF64, b.Load(c, {i, j, k}), b.Load(m, {i, row, zero})));
  b.Compute("square", all, {q, {i, j, k}}, b.Mul(b.Load(d, {i, j, k}), b.Load(d, {i, j, k})));
  b.Reduce("squares", sum, Monoid::Kind::kSum, {v, {i, j, zero}}, b.Load(q, {i, j, k}));
  b.Compute("scale", rows, {w, {i, j, k}}, b.Make(Op::kDiv, kF64, b.Load(v, {i, j, k}), n));
  b.Compute("round", rows, {y, {i, j, k}}, b.Make(Op::kCast, kF32, b.Load(w, {i, j, k})));
  if (change == Change::kIsRead) b.MakeOutput(m);
  return b.Finish();
}

TEST(NarrowVariances, StayWithinTheBound) {
  std::vector<float> x(kRows * kTerms), found(kRows);
  for (size_t n = 0; n < x.size(); ++n)
    x[n] = 100 + std::sin(static_cast<float>(n));  // a mean beside small deviations
  Program net = Variance(Change::kNone);
  EXPECT_EQ(NarrowVariances(net), 1);
  ASSERT_TRUE(Verify(net).ok()) << Verify(net);
  EXPECT_THAT(ToString(net), Not(HasSubstr("f64")));
  EXPECT_THAT(ToString(net), HasSubstr("d[i, j, k] = x[0, j, k] - m[0, j, 0]"));
  EXPECT_THAT(ToString(net), HasSubstr("m[i, j, k] = s[i, j, k]/f32(48)"));
  const auto run = kiln::Run(net, {std::string(reinterpret_cast<const char*>(x.data()), 4 * x.size())});
  ASSERT_TRUE(run.ok()) << run.status();
  std::memcpy(found.data(), (*run)[0].data(), 4 * found.size());
  const double n = kTerms, epsilon = std::ldexp(1, -24);
  for (int row = 0; row < kRows; ++row) {
    double mean = 0, size = 0, v = 0;
    for (int t = 0; t < kTerms; ++t) mean += x[row * kTerms + t] / n;
    for (int t = 0; t < kTerms; ++t) size += std::abs(x[row * kTerms + t]) / n;
    for (int t = 0; t < kTerms; ++t) v += std::pow(x[row * kTerms + t] - mean, 2);
    EXPECT_NEAR(found[row] * n, v,
                (n + 4) * epsilon * v + n * std::pow((n + 1) * epsilon * size, 2) + 2 * epsilon * v);
  }
}

TEST(NarrowVariances, OthersStay) {
  for (const Change change : {Change::kDividesByLess, Change::kOtherRow, Change::kIsRead}) {
    Program net = Variance(change);
    EXPECT_EQ(NarrowVariances(net), 0);
    EXPECT_EQ(ToString(net), ToString(Variance(change)));
  }
}

}  // namespace
}  // namespace kiln
