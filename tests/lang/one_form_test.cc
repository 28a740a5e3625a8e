// Layers that exporters write in different ways become one task.
#include "lang/graph/one_form.h"

#include <gmock/gmock.h>

#include "lang/program/builder.h"
#include "lang/text/hash.h"
#include "lang/text/text.h"
#include "testing/same_results.h"

namespace kiln {
namespace {

using ::testing::HasSubstr;

constexpr DType kF32 = DType::kF32;
const IndexSum i = Builder::Iter(0), j = Builder::Iter(1), k = Builder::Iter(2);

// Z = max(X*W + b, 0)/4, with a block for each operation or one block.
Program Layer(bool as_jax) {
  Builder b("layer");
  const Id x = b.Input("x", kF32, {4, 8}), w = b.Constant("w", kF32, {8, 6}),
           bias = b.Constant("b", kF32, {6}), sums = b.Temporary("sums", kF32, {4, 6}),
           z = b.Output("z", kF32, {4, 6});
  const std::vector<Builder::IterSpec> box = {{"i", 4}, {"j", 6}};
  b.Reduce("dense", {{"i", 4}, {"j", 6}, {"k", 8, IterKind::kReduction}}, Monoid::Kind::kSum, {sums, {i, j}},
           b.Mul(b.Load(x, {i, k}), b.Load(w, {k, j})));
  const auto store = [&](absl::string_view name, Id value) {
    const Id to = b.Temporary(name, kF32, {4, 6});
    b.Compute(name, box, {to, {i, j}}, value);
    return b.Load(to, {i, j});
  };
  const Id zero = b.Float(kF32, 0), read = b.Load(sums, {i, j}), shift = b.Load(bias, {j});
  if (as_jax) {
    const Id sum = store("add", b.Add(shift, read));
    b.Compute("div", box, {z, {i, j}},
              b.Make(Op::kDiv, kF32, store("relu", b.Make(Op::kMax, kF32, zero, sum)), b.Float(kF32, 4)));
  } else {
    const Id sum = b.Add(read, shift);
    const Id relu = b.Make(Op::kSelect, kF32, b.Make(Op::kCmpUGt, DType::kI1, sum, zero), sum, zero);
    b.Compute("all", box, {z, {i, j}}, b.Mul(relu, b.Float(kF32, 0.25)));
  }
  return b.Finish();
}

TEST(OneForm, AnOperationABlockOrAllInOneAreEqual) {
  Program jax = Layer(true), torch = Layer(false);
  for (Program* layer : {&jax, &torch}) {
    const Program before = *layer;
    BringToOneForm(*layer);
    EXPECT_THAT(ToString(*layer), HasSubstr("z[i, j] = max(sums[i, j] + b[j], f32(0))*f32(0.25)"));
    ExpectSameResults(before, *layer);
  }
  EXPECT_TRUE(Equal(jax, torch));
}

TEST(OneForm, LeavesOutWhatHasOneElement) {
  Builder b("net");
  const Id x = b.Input("x", kF32, {1, 4, 1}), t = b.Temporary("t", kF32, {1, 4, 1}),
           y = b.Output("y", kF32, {1, 1});
  b.Compute("twice", {{"n", 1}, {"i", 4}, {"m", 1}}, {t, {i, j, k}},
            b.Add(b.Load(x, {i, j, k}), b.Load(x, {i, j, k})));
  b.Reduce("sum", {{"n", 1}, {"i", 4, IterKind::kReduction}, {"m", 1, IterKind::kReduction}},
           Monoid::Kind::kSum, {y, {i, i}}, b.Load(t, {i, j, k}));
  const Program before = b.Finish();
  Program after = before;
  BringToOneForm(after);
  EXPECT_THAT(ToString(after), HasSubstr("t[i] = x[0, i, 0] + x[0, i, 0]"));
  EXPECT_THAT(ToString(after), HasSubstr("y[0, 0] sum= t[i]"));
  ExpectSameResults(before, after);
}

TEST(OneForm, PutsItersInOneOrder) {
  Builder b("net");
  const Id x = b.Input("x", kF32, {4, 8}), w = b.Constant("w", kF32, {8, 6}), y = b.Output("y", kF32, {4, 6});
  b.Reduce("dense", {{"k", 8, IterKind::kReduction}, {"j", 6}, {"i", 4}}, Monoid::Kind::kSum, {y, {k, j}},
           b.Mul(b.Load(w, {i, j}), b.Load(x, {k, i})));
  Program net = b.Finish();
  BringToOneForm(net);
  EXPECT_THAT(ToString(net), HasSubstr("        spatial i < 4 = i\n        spatial j < 6 = j\n"
                                       "        reduction k < 8 = k\n        y[i, j] sum= x[i, k]*w[k, j]"));
}

TEST(OneForm, KeepsAMaximumThatIgnoresNaN) {
  Builder b("net");
  const Id x = b.Input("x", kF32, {4}), y = b.Output("y", kF32, {4});
  const Id value = b.Load(x, {i}), zero = b.Float(kF32, 0);
  b.Compute("clip", {{"i", 4}}, {y, {i}},
            b.Make(Op::kSelect, kF32, b.Make(Op::kCmpGt, DType::kI1, value, zero), value, zero));
  Program net = b.Finish();
  BringToOneForm(net);
  EXPECT_THAT(ToString(net), HasSubstr("select("));
}

}  // namespace
}  // namespace kiln
