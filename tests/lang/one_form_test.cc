// Tests that BringToOneForm gives layers that exporters write in different ways one form, so that they become one task.
#include "lang/graph/one_form.h"

#include <gmock/gmock.h>

#include "lang/program/builder.h"
#include "lang/text/hash.h"
#include "lang/text/text.h"
#include "testing/same_results.h"

namespace kiln {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

constexpr DType kF32 = DType::kF32;
const IndexSum i = Builder::Iter(0), j = Builder::Iter(1), k = Builder::Iter(2);

// Returns the program Z = max(X*W + b, 0)/4. After the product, it has a block for each operation, as JAX writes it, or
// one block for all of them.
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

// Returns a program that clips X to 0 .. 6 as an exporter writes it: of ONNX (0), PyTorch (1) or JAX (2).
Program Clip(int exporter) {
  Builder b("net");
  const Id x = b.Input("x", kF32, {4}), y = b.Output("y", kF32, {4});
  const Id value = b.Load(x, {i}), zero = b.Float(kF32, 0), six = b.Float(kF32, 6);
  const auto select = [&](Op compare, Id left, Id right, Id then, Id otherwise) {
    return b.Make(Op::kSelect, kF32, b.Make(compare, DType::kI1, left, right), then, otherwise);
  };
  Id clipped = kNone;
  if (exporter == 0) {  // ONNX
    const Id low = select(Op::kCmpULt, value, zero, zero, value);
    clipped = select(Op::kCmpUGt, low, six, six, low);
  } else if (exporter == 1) {  // PyTorch
    const Id low = select(Op::kCmpGt, value, zero, value, zero);
    clipped = select(Op::kCmpLt, six, low, six, low);
  } else {  // JAX
    clipped = b.Make(Op::kMin, kF32, six, b.Make(Op::kMax, kF32, zero, value));
  }
  b.Compute("clip", {{"i", 4}}, {y, {i}}, clipped);
  return b.Finish();
}

TEST(OneForm, ClipsAreMaximaAndMinimaIfValuesAreNumbers) {
  for (const int exporter : {0, 1, 2}) {
    Program net = Clip(exporter);
    EXPECT_EQ(BringToOneForm(net, /*assume_numbers=*/true) > 0, exporter < 2);
    EXPECT_THAT(ToString(net), HasSubstr("y[i] = min(max(x[i], f32(0)), f32(6))"));
    ExpectSameResults(Clip(exporter), net);
  }
}

TEST(OneForm, ATransposeOfATransposeIsOne) {
  Builder b("net");
  const Id x = b.Input("x", kF32, {4, 6}), t = b.Temporary("t", kF32, {3, 4, 2}),
           u = b.Temporary("u", kF32, {3, 2, 4}), y = b.Output("y", kF32, {3, 2});
  b.Compute("heads", {{"i", 3}, {"j", 4}, {"k", 2}}, {t, {i, j, k}}, b.Load(x, {j, i * 2 + k}));
  b.Compute("keys", {{"i", 3}, {"j", 2}, {"k", 4}}, {u, {i, j, k}}, b.Load(t, {i, k, j}));
  b.Reduce("sum", {{"i", 3}, {"j", 2}, {"k", 4, IterKind::kReduction}}, Monoid::Kind::kSum, {y, {i, j}},
           b.Load(u, {i, j, k}));
  const Program before = b.Finish();
  Program after = before;
  BringToOneForm(after);
  EXPECT_THAT(ToString(after), HasSubstr("u[i, j, k] = x[k, i*2 + j]"));
  ExpectSameResults(before, after);
}

// Y = X + mask, of several blocks, where the mask is 0 if an index is not negative, thus always. BringToOneForm leaves
// out the addition if it may assume numbers, and else keeps X + 0, which makes 0 of -0.
TEST(OneForm, AMaskOfZerosIsLeftOutIfSignsOfZerosDoNotMatter) {
  Builder b("net");
  const Id x = b.Input("x", kF32, {4, 4}), at = b.Temporary("at", DType::kI64, {4}),
           keep = b.Temporary("keep", DType::kI1, {4}), mask = b.Temporary("mask", kF32, {4, 4}),
           y = b.Output("y", kF32, {4, 4});
  b.Compute("at", {{"i", 4}}, {at, {i}}, b.Make(Op::kCast, DType::kI64, b.Index(i)));
  b.Compute("keep", {{"i", 4}}, {keep, {i}},
            b.Make(Op::kCmpGe, DType::kI1, b.Load(at, {i}), b.Integer(DType::kI64, 0)));
  b.Compute("mask", {{"i", 4}, {"j", 4}}, {mask, {i, j}},
            b.Make(Op::kSelect, kF32, b.Load(keep, {j}), b.Float(kF32, 0), b.Float(kF32, -1)));
  b.Compute("add", {{"i", 4}, {"j", 4}}, {y, {i, j}}, b.Add(b.Load(x, {i, j}), b.Load(mask, {i, j})));
  const Program before = b.Finish();
  Program after = before, exact = before;
  InlineRepeatedConstants(after);
  EXPECT_EQ(BringToOneForm(after, /*assume_numbers=*/true), 1);
  EXPECT_THAT(ToString(after), HasSubstr("y[i, j] = x[i, j]\n"));
  InlineRepeatedConstants(exact);
  EXPECT_EQ(BringToOneForm(exact), 0);
  EXPECT_THAT(ToString(exact), HasSubstr("y[i, j] = x[i, j] + f32(0)\n"));
  ExpectSameResults(before, exact);
}

TEST(OneForm, LeavesOutWhatNothingReads) {
  Builder b("net");
  const Id x = b.Input("x", kF32, {4}), t = b.Temporary("t", kF32, {4}), u = b.Temporary("u", kF32, {4}),
           y = b.Output("y", kF32, {4});
  b.Compute("twice", {{"i", 4}}, {t, {i}}, b.Add(b.Load(x, {i}), b.Load(x, {i})));
  b.Compute("exp", {{"i", 4}}, {u, {i}}, b.Make(Op::kExp, kF32, b.Load(t, {i})));
  b.Compute("copy", {{"i", 4}}, {y, {i}}, b.Load(x, {i}));
  Program net = b.Finish();
  BringToOneForm(net);
  EXPECT_THAT(ToString(net), Not(HasSubstr("exp")));
  EXPECT_THAT(ToString(net), Not(HasSubstr("twice")));
}

}  // namespace
}  // namespace kiln
