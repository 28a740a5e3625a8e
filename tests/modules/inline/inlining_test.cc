// auto-inline under each of its options, and inline-constant-scalars.
#include <gtest/gtest.h>

#include "lang/program/builder.h"
#include "tests/support/expect_module.h"

namespace kiln {
namespace {

// B = exp(A), read twice; C = B transposed + c[], a scalar of 3; D = C + B.
Program Chain() {
  Builder b("chain");
  const Id a = b.Input("A", DType::kF32, {4, 4}), d = b.Output("D", DType::kF32, {4, 4});
  const Id e = b.Temporary("B", DType::kF32, {4, 4}), t = b.Temporary("C", DType::kF32, {4, 4}),
           c = b.Temporary("c", DType::kF32, {});
  const Sum i = Builder::Iter(0), j = Builder::Iter(1);
  const std::vector<Builder::IterSpec> all{{"i", 4}, {"j", 4}};
  b.Compute("three", {}, {c, {}}, b.Float(DType::kF32, 3));
  b.Compute("exp", all, {e, {i, j}}, b.Make(Op::kExp, DType::kF32, b.Load(a, {i, j})));
  b.Compute("transpose", all, {t, {i, j}}, b.Add(b.Load(e, {j, i}), b.Load(c, {})));
  b.Compute("add", all, {d, {i, j}}, b.Add(b.Load(t, {i, j}), b.Load(e, {i, j})));
  return b.Finish();
}

TEST(AutoInline, KeepsWhatCostsAndWhatPermutes) {
  ExpectModule("auto_inline", "each-block(auto-inline)", Chain());
}

// T = W transposed, C = A * T; W is a constant.
TEST(AutoInline, InlinesConstantsThatItPermutes) {
  Builder b("product");
  const Id a = b.Input("A", DType::kF32, {4, 4}), w = b.Constant("W", DType::kF32, {4, 4}),
           t = b.Temporary("T", DType::kF32, {4, 4}), c = b.Output("C", DType::kF32, {4, 4});
  const Sum i = Builder::Iter(0), j = Builder::Iter(1), k = Builder::Iter(2);
  b.Compute("transpose", {{"i", 4}, {"j", 4}}, {t, {i, j}}, b.Load(w, {j, i}));
  b.Reduce("matmul", {{"i", 4}, {"j", 4}, {"k", 4, IterKind::kReduction}}, Monoid::Kind::kSum, {c, {i, j}},
           b.Mul(b.Load(a, {i, k}), b.Load(t, {k, j})));
  ExpectModule("auto_inline_constants", "each-block(auto-inline)", b.Finish());
}

TEST(AutoInline, InlinesAllThatItMayUnderLaxOptions) {
  ExpectModule("auto_inline_lax", "each-block(auto-inline cheap=0 ordered=0)", Chain());
}

TEST(AutoInline, KeepsWhatOptionsDisallow) {
  ExpectModule("auto_inline_strict",
               "each-block(auto-inline ordered=0 cheap=0 constants=0 disallow=exp,const injective=1)",
               Chain());
  ExpectModule("auto_inline_nowhere", "each-block(auto-inline into-consumer=0 into-producer=0 ordered=0)",
               Chain());
}

TEST(InlineConstantScalars, InlinesScalarsAlone) {
  ExpectModule("inline_constant_scalars", "each-block(inline-constant-scalars)", Chain());
}

}  // namespace
}  // namespace kiln
