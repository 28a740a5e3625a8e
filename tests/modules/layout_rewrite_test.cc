// layout-rewrite: a constant operand of a tiled block is laid out in the prepare phase.
#include <gtest/gtest.h>

#include "lang/builder.h"
#include "tests/support/module_cases.h"

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

}  // namespace
}  // namespace kiln
