// Programs for tests of intrinsics: matrix products of bytes, and of a matrix and its transpose.
#pragma once

#include "lang/program/builder.h"

namespace kiln {

// Returns a matrix product of bytes as VNNI computes it: A is unsigned, B signed, and sums are in i32.
inline Program Bytes(int64_t m, int64_t n, int64_t k) {
  Builder b("bytes");
  const Id x = b.Input("A", DType::kI8, {m, k}), y = b.Input("B", DType::kI8, {k, n}),
           z = b.Output("C", DType::kI32, {m, n});
  const IndexSum i = Builder::Iter(0), j = Builder::Iter(1), r = Builder::Iter(2);
  b.Reduce("bytes", {{"i", m}, {"j", n}, {"k", k, IterKind::kReduction}}, Monoid::Kind::kSum, {z, {i, j}},
           b.Mul(b.Make(Op::kCastUnsigned, DType::kI32, b.Load(x, {i, r})),
                 b.Cast(DType::kI32, b.Load(y, {r, j}))));
  return b.Finish();
}

// Returns the product of a matrix of this type and its transpose, in which both factors are one buffer. Factors are
// converted to f32, the type of the sums.
inline Program Gram(DType type, int64_t m, int64_t k) {
  Builder b("gram");
  const Id x = b.Input("A", type, {m, k}), z = b.Output("C", DType::kF32, {m, m});
  const IndexSum i = Builder::Iter(0), j = Builder::Iter(1), r = Builder::Iter(2);
  const auto factor = [&](const IndexSum& row) {
    const Id load = b.Load(x, {row, r});
    return type == DType::kF32 ? load : b.Cast(DType::kF32, load);
  };
  b.Reduce("gram", {{"i", m}, {"j", m}, {"k", k, IterKind::kReduction}}, Monoid::Kind::kSum, {z, {i, j}},
           b.Mul(factor(i), factor(j)));
  return b.Finish();
}

}  // namespace kiln
