// Tests JoinRows, which makes one product of several products of rows of one operand with the same constants.
#include "lang/graph/join_rows.h"

#include <gmock/gmock.h>

#include "absl/strings/str_cat.h"
#include "lang/program/builder.h"
#include "lang/text/text.h"
#include "testing/same_results.h"

namespace kiln {
namespace {

using ::testing::HasSubstr;

constexpr DType kF32 = DType::kF32;
const IndexSum f = Builder::Iter(0), c = Builder::Iter(1);

// Returns the steps of a recurrent network, step i with the row r = rows[i] of X: H[i][f] = max(Σ_c X[r, c]*W[c, f] +
// Σ_c H[i-1][c]*U[c, f], 0)
Program Steps(const std::vector<int64_t>& rows) {
  Builder b("net");
  const std::vector<Builder::IterSpec> iters{{"f", 6}, {"c", 6, IterKind::kReduction}};
  const Id x = b.Input("X", kF32, {8, 6}), w = b.Constant("W", kF32, {6, 6}),
           u = b.Constant("U", kF32, {6, 6}), y = b.Output("Y", kF32, {6});
  Id h = b.Input("S", kF32, {6});
  for (size_t i = 0; i < rows.size(); ++i) {
    const auto temporary = [&](absl::string_view kind) {
      return b.Temporary(absl::StrCat(kind, i), kF32, {6});
    };
    const Id p = temporary("P"), q = temporary("Q"), next = i + 1 == rows.size() ? y : temporary("H");
    const IndexSum row = IndexSum::Constant(rows[i]);
    b.Reduce("input", iters, Monoid::Kind::kSum, {p, {f}}, b.Mul(b.Load(x, {row, c}), b.Load(w, {c, f})));
    b.Reduce("state", iters, Monoid::Kind::kSum, {q, {f}}, b.Mul(b.Load(h, {c}), b.Load(u, {c, f})));
    b.Compute("step", {{"f", 6}}, {next, {f}},
              b.Make(Op::kMax, kF32, b.Add(b.Load(p, {f}), b.Load(q, {f})), b.Float(kF32, 0)));
    h = next;
  }
  return b.Finish();
}

TEST(JoinRows, MakesOneProductOfThoseOfAllSteps) {
  const Program before = Steps({0, 1, 2, 3});
  Program after = before;
  EXPECT_EQ(JoinRows(after), 3);
  EXPECT_THAT(ToString(after), HasSubstr("P0.rows[row, f] sum= X[row, c]*W[c, f]"));
  EXPECT_THAT(ToString(after), HasSubstr("P1[d0] = P0.rows[1, d0]"));
  EXPECT_THAT(ToString(after), HasSubstr("Q1[f] sum= H0[c]*U[c, f]"));  // needs the step before
  ExpectSameResults(before, after);
}

TEST(JoinRows, TakesRowsAtEvenDistancesInAnyOrder) {
  const Program before = Steps({4, 0, 2, 7});
  Program after = before;
  EXPECT_EQ(JoinRows(after), 2);
  EXPECT_THAT(ToString(after), HasSubstr("P0.rows[row, f] sum= X[row*2, c]*W[c, f]"));
  EXPECT_THAT(ToString(after), HasSubstr("P3[f] sum= X[7, c]*W[c, f]"));
  ExpectSameResults(before, after);
}

// Returns a program that convolves both frames of a film X, and multiplies the results element by element. If
// `written`, a block copies each frame to a temporary before its convolution: the second frame after the first
// convolution.
Program Frames(bool written) {
  Builder b("film");
  const IndexSum k = Builder::Iter(0), h = Builder::Iter(1), w = Builder::Iter(2), ch = Builder::Iter(3),
                 p = Builder::Iter(4), q = Builder::Iter(5), zero = IndexSum::Constant(0),
                 one = IndexSum::Constant(1);
  const Id in = b.Input("X", kF32, {2, 3, 8, 8}), weights = b.Constant("W", kF32, {4, 3, 3, 3}),
           y = b.Output("Y", kF32, {4, 6, 6});
  const Id x = written ? b.Temporary("F", kF32, {2, 3, 8, 8}) : in;
  std::vector<Id> results;
  for (const IndexSum& frame : {zero, one}) {
    if (written)
      b.Compute("frame", {{"c", 3}, {"i", 8}, {"j", 8}}, {x, {frame, k, h, w}}, b.Load(in, {frame, k, h, w}));
    results.push_back(b.Temporary(absl::StrCat("C", results.size()), kF32, {4, 6, 6}));
    b.Reduce("conv",
             {{"k", 4},
              {"h", 6},
              {"w", 6},
              {"c", 3, IterKind::kReduction},
              {"p", 3, IterKind::kReduction},
              {"q", 3, IterKind::kReduction}},
             Monoid::Kind::kSum, {results.back(), {k, h, w}},
             b.Mul(b.Load(x, {frame, ch, h + p, w + q}), b.Load(weights, {k, ch, p, q})));
  }
  b.Compute("difference", {{"k", 4}, {"h", 6}, {"w", 6}}, {y, {k, h, w}},
            b.Mul(b.Load(results[0], {k, h, w}), b.Load(results[1], {k, h, w})));
  return b.Finish();
}

TEST(JoinRows, JoinsConvolutionsOfFrames) {
  const Program before = Frames(false);
  Program after = before;
  EXPECT_EQ(JoinRows(after), 1);
  EXPECT_THAT(ToString(after), HasSubstr("C0.rows[row, k, h, w] sum= X[row, c, h + p, w + q]*W[k, c, p, q]"));
  ExpectSameResults(before, after);
}

// P1[f] = Σ_c (X[0, c] - X[1, c])*W[c, f] and P2 with X[2, c] read row 0 alike, so no row replaces both reads of X.
TEST(JoinRows, LeavesSumsThatAlsoReadTheSameRow) {
  for (const bool same_comes_first : {true, false}) {
    Builder b("net");
    const Id x = b.Input("X", kF32, {3, 6}), w = b.Constant("W", kF32, {6, 6}), y = b.Output("Y", kF32, {6});
    std::vector<Id> sums;
    for (const int64_t row : {1, 2}) {
      const Id same = b.Load(x, {IndexSum::Constant(0), c}), other = b.Load(x, {IndexSum::Constant(row), c});
      const Id difference =
          same_comes_first ? b.Make(Op::kSub, kF32, same, other) : b.Make(Op::kSub, kF32, other, same);
      sums.push_back(b.Temporary(absl::StrCat("P", row), kF32, {6}));
      b.Reduce("sum", {{"f", 6}, {"c", 6, IterKind::kReduction}}, Monoid::Kind::kSum, {sums.back(), {f}},
               b.Mul(difference, b.Load(w, {c, f})));
    }
    b.Compute("product", {{"f", 6}}, {y, {f}}, b.Mul(b.Load(sums[0], {f}), b.Load(sums[1], {f})));
    Program after = b.Finish();
    EXPECT_EQ(JoinRows(after), 0) << ToString(after);
  }
}

TEST(JoinRows, LeavesRowsThatAreComputedLater) {
  Program after = Frames(true);
  EXPECT_EQ(JoinRows(after), 0);
}

}  // namespace
}  // namespace kiln
