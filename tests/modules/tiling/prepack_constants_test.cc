// prepack-constants: a constant operand of a tiled block is laid out in the prepare phase.
#include <gtest/gtest.h>

#include "lang/program/builder.h"
#include "tests/support/expect_module.h"

namespace kiln {
namespace {

Program ConstantWeights() {
  Builder b("dense");
  const Id x = b.Input("x", DType::kF32, {12, 16}), w = b.Constant("w", DType::kF32, {16, 24}),
           y = b.Output("y", DType::kF32, {12, 24});
  const Sum i = Builder::Iter(0), j = Builder::Iter(1), k = Builder::Iter(2);
  b.Reduce("dense", {{"i", 12}, {"j", 24}, {"k", 16, IterKind::kReduction}}, Monoid::Kind::kSum, {y, {i, j}},
           b.Mul(b.Load(x, {i, k}), b.Load(w, {k, j})));
  return b.Finish();
}

TEST(LayoutRewrite, PreparesConstantsInPanels) {
  ExpectModule("layout_rewrite",
               "pin site=write-reuse to=1 | pin site=read-reuse to=2,3 | each-block(multi-level-tiling)",
               ConstantWeights());
}

// y[h, f] += x[h + k, c] * w[k, c, f]: rows of the window inside, tiles of channels around them.
TEST(LayoutRewrite, FollowsTheTilesOfSeveralReductions) {
  Builder b("conv");
  const Id x = b.Input("x", DType::kF32, {14, 8}), w = b.Constant("w", DType::kF32, {3, 8, 24}),
           y = b.Output("y", DType::kF32, {12, 24});
  const Sum h = Builder::Iter(0), f = Builder::Iter(1), k = Builder::Iter(2), c = Builder::Iter(3);
  b.Reduce("conv", {{"h", 12}, {"f", 24}, {"k", 3, IterKind::kReduction}, {"c", 8, IterKind::kReduction}},
           Monoid::Kind::kSum, {y, {h, f}}, b.Mul(b.Load(x, {h + k, c}), b.Load(w, {k, c, f})));
  ExpectModule("layout_rewrite_window",
               "pin site=write-reuse to=1 | pin site=read-reuse to=2 | each-block(multi-level-tiling)",
               b.Finish());
}

}  // namespace
}  // namespace kiln
