// fuse-epilogue: where the consumer of a tiled convolution is computed.
#include <gtest/gtest.h>

#include "lang/program/builder.h"
#include "tests/support/expect_module.h"

namespace kiln {
namespace {

// Y[o, h, w] += X[c, h + y, w + x] * W[o, c, y, x]; Z = max(Y, 0)
Program Convolution(int64_t channels, int64_t width) {
  Builder b("conv");
  const Id x = b.Input("X", DType::kF32, {3, 6, width + 2}),
           w = b.Input("W", DType::kF32, {channels, 3, 3, 3}),
           z = b.Output("Z", DType::kF32, {channels, 4, width}),
           y = b.Temporary("Y", DType::kF32, {channels, 4, width});
  const Sum o = Builder::Iter(0), h = Builder::Iter(1), v = Builder::Iter(2), c = Builder::Iter(3),
            p = Builder::Iter(4), q = Builder::Iter(5);
  constexpr IterKind kReduction = IterKind::kReduction;
  b.Reduce("conv",
           {{"o", channels},
            {"h", 4},
            {"w", width},
            {"c", 3, kReduction},
            {"y", 3, kReduction},
            {"x", 3, kReduction}},
           Monoid::Kind::kSum, {y, {o, h, v}}, b.Mul(b.Load(x, {c, h + p, v + q}), b.Load(w, {o, c, p, q})));
  b.Compute("relu", {{"o", channels}, {"h", 4}, {"w", width}}, {z, {o, h, v}},
            b.Make(Op::kMax, DType::kF32, b.Load(y, {o, h, v}), b.Float(DType::kF32, 0)));
  return b.Finish();
}

TEST(FuseEpilogue, HasAnAlternativeForEachLevel) {
  ExpectModule(
      "fuse_epilogue",
      "pin site=write-reuse to=1 | pin site=read-reuse to=0 | each-block(multi-level-tiling epilogue=1,2)",
      Convolution(4, 8));
}

}  // namespace
}  // namespace kiln
