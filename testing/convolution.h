// Returns the program of a convolution, for tests of modules. With the default shape:
//
//   P[y, x, c] = within(y - 1 < 6, x - 1 < 6, X[y - 1, x - 1, c], 0)             block "pad", if pad > 0
//   Y[h, w, f] sum= P[h + i, w + j, c] * W[i, j, c, f]                           block "conv"
#pragma once

#include "lang/program/builder.h"

namespace kiln {

struct ConvolutionShape {
  int64_t size = 6;  // of the result, in both directions
  int64_t channels = 8, results = 16, window = 3, stride = 1, pad = 1;
};

inline Program Convolution(const ConvolutionShape& shape = {}) {
  Builder b("conv");
  const int64_t padded = (shape.size - 1) * shape.stride + shape.window, image = padded - 2 * shape.pad;
  const IndexSum i0 = b.Iter(0), i1 = b.Iter(1), i2 = b.Iter(2), i3 = b.Iter(3), i4 = b.Iter(4),
                 i5 = b.Iter(5);
  const Id X = b.Input("X", DType::kF32, {image, image, shape.channels});
  const Id W = b.Input("W", DType::kF32, {shape.window, shape.window, shape.channels, shape.results});
  const Id Y = b.Output("Y", DType::kF32, {shape.size, shape.size, shape.results});
  Id read = X;
  if (shape.pad > 0) {
    read = b.Temporary("P", DType::kF32, {padded, padded, shape.channels});
    const IndexSum y = i0 + IndexSum::Constant(-shape.pad), x = i1 + IndexSum::Constant(-shape.pad);
    b.Compute("pad", {{"y", padded}, {"x", padded}, {"c", shape.channels}}, {read, {i0, i1, i2}},
              b.Within({{y, image}, {x, image}}, b.Load(X, {y, x, i2}), b.Float(DType::kF32, 0)));
  }
  b.Reduce(
      "conv",
      {{"h", shape.size},
       {"w", shape.size},
       {"f", shape.results},
       {"i", shape.window, IterKind::kReduction},
       {"j", shape.window, IterKind::kReduction},
       {"c", shape.channels, IterKind::kReduction}},
      Monoid::Kind::kSum, {Y, {i0, i1, i2}},
      b.Mul(b.Load(read, {i0 * shape.stride + i3, i1 * shape.stride + i4, i5}), b.Load(W, {i3, i4, i5, i2})));
  return b.Finish();
}

}  // namespace kiln
