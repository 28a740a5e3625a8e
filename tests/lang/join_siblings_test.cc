// Tests JoinSiblings, which makes one product of several products of the same operand with different constants.
#include "lang/graph/join_siblings.h"

#include <gmock/gmock.h>

#include "absl/strings/str_cat.h"
#include "lang/graph/outline.h"
#include "lang/program/builder.h"
#include "lang/text/text.h"
#include "testing/same_results.h"

namespace kiln {
namespace {

using ::testing::HasSubstr;

constexpr DType kF32 = DType::kF32;
const IndexSum n = Builder::Iter(0), f = Builder::Iter(1), c = Builder::Iter(2);

// Returns a program that multiplies X by constants of the given widths, adds a bias to each product and, if
// `rectified`, rectifies it. Its result is the sum of the last columns of all of these.
Program Branches(const std::vector<int64_t>& widths, const std::vector<bool>& rectified) {
  Builder b("net");
  const Id x = b.Input("X", kF32, {5, 7}), y = b.Output("Y", kF32, {5});
  Id sum = b.Float(kF32, 0);
  for (size_t i = 0; i < widths.size(); ++i) {
    const auto name = [&](absl::string_view kind) { return absl::StrCat(kind, i); };
    const Id w = b.Constant(name("W"), kF32, {7, widths[i]}), bias = b.Constant(name("b"), kF32, {widths[i]}),
             product = b.Temporary(name("C"), kF32, {5, widths[i]}),
             out = b.Temporary(name("D"), kF32, {5, widths[i]});
    b.Reduce(name("dense"), {{"n", 5}, {"f", widths[i]}, {"c", 7, IterKind::kReduction}}, Monoid::Kind::kSum,
             {product, {n, f}}, b.Mul(b.Load(x, {n, c}), b.Load(w, {c, f})));
    const Id value = b.Add(b.Load(product, {n, f}), b.Load(bias, {f}));
    b.Compute(name("out"), {{"n", 5}, {"f", widths[i]}}, {out, {n, f}},
              rectified[i] ? b.Make(Op::kMax, kF32, value, b.Float(kF32, 0)) : value);
    sum = b.Add(sum, b.Load(out, {n, IndexSum::Constant(widths[i] - 1)}));
  }
  b.Compute("last", {{"n", 5}}, {y, {n}}, sum);
  return b.Finish();
}

TEST(JoinSiblings, MakesOneProductAndOneStoreAndReadersReadSlices) {
  const Program before = Branches({4, 3, 4}, {true, true, true});
  Program after = before;
  EXPECT_EQ(JoinSiblings(after), 2);
  EXPECT_THAT(ToString(after), HasSubstr("W0.joined[d0, d1 + 4] = W1[d0, d1]"));
  EXPECT_THAT(ToString(after), HasSubstr("C0.joined[n, f] sum= X[n, c]*W0.joined[c, f]"));
  EXPECT_THAT(ToString(after), HasSubstr("D0.joined[n, f] = max(C0.joined[n, f] + b0.joined[f], f32(0))"));
  EXPECT_THAT(ToString(after),
              HasSubstr("Y[n] = f32(0) + D0.joined[n, 3] + D0.joined[n, 6] + D0.joined[n, 10]"));
  ExpectSameResults(before, after);
}

TEST(JoinSiblings, PreparesTheJoinedConstantsOnce) {
  Program after = Branches({4, 3, 4}, {true, true, true});
  JoinSiblings(after);
  int prepared = 0;
  for (const char is : PreparedBuffers(after)) prepared += is;
  EXPECT_EQ(prepared, 2);  // W0.joined and b0.joined
}

TEST(JoinSiblings, LeavesWhatIsReadInDifferentWays) {
  const Program before = Branches({4, 3, 4}, {true, false, true});
  Program after = before;
  EXPECT_EQ(JoinSiblings(after), 0);
  EXPECT_EQ(ToString(after), ToString(before));
}

// JoinSiblings makes one convolution of two convolutions of the same image with windows of the same size. It has the
// channels of both (2 and 5).
TEST(JoinSiblings, JoinsConvolutionsAlongChannels) {
  Builder b("net");
  const Id x = b.Input("X", kF32, {3, 8, 8}), y = b.Output("Y", kF32, {2});
  const IndexSum k = Builder::Iter(0), h = Builder::Iter(1), w = Builder::Iter(2), ch = Builder::Iter(3),
                 p = Builder::Iter(4), q = Builder::Iter(5);
  std::vector<Id> results;
  for (const int64_t channels : {2, 5}) {
    const Id weights = b.Constant(absl::StrCat("W", channels), kF32, {channels, 3, 3, 3}),
             out = b.Temporary(absl::StrCat("C", channels), kF32, {channels, 6, 6});
    b.Reduce(absl::StrCat("conv", channels),
             {{"k", channels},
              {"h", 6},
              {"w", 6},
              {"c", 3, IterKind::kReduction},
              {"p", 3, IterKind::kReduction},
              {"q", 3, IterKind::kReduction}},
             Monoid::Kind::kSum, {out, {k, h, w}},
             b.Mul(b.Load(x, {ch, h + p, w + q}), b.Load(weights, {k, ch, p, q})));
    results.push_back(out);
  }
  for (const int i : {0, 1}) {
    b.Reduce("most",
             {{"k", i == 0 ? 2 : 5, IterKind::kReduction},
              {"h", 6, IterKind::kReduction},
              {"w", 6, IterKind::kReduction}},
             Monoid::Kind::kMax, {y, {IndexSum::Constant(i)}}, b.Load(results[i], {k, h, w}));
  }
  const Program before = b.Finish();
  Program after = before;
  EXPECT_EQ(JoinSiblings(after), 1);
  EXPECT_THAT(ToString(after), HasSubstr("C2.joined[k, h, w] sum= X[c, h + p, w + q]*W2.joined[k, c, p, q]"));
  EXPECT_THAT(ToString(after), HasSubstr("Y[1] max= C2.joined[k + 2, h, w]"));
  ExpectSameResults(before, after);
}

}  // namespace
}  // namespace kiln
