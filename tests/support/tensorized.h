// Builds matrix products whose innermost tiles are calls of an intrinsic, for tests.
#pragma once

#include <gtest/gtest.h>

#include <string>
#include <utility>

#include "lang/patterns/intrinsic.h"
#include "lang/program/builder.h"
#include "testing/scheduled.h"

namespace kiln {

// The program C[i, j] sum= widened A[i, k] * widened B[j, k]. Its extents are multiples of the family's tile;
// if `rows` is given, i has that many rows instead.
inline Program Product(const IntrinsicFamily& family, DType a, DType c, bool unsigned_a, int64_t rows = 0) {
  Builder b("product");
  const int64_t m = rows > 0 ? rows : 2 * family.m, n = 2 * family.n, k = 3 * family.k;
  const Id A = b.Input("A", a, {m, k}), B = b.Input("B", a, {n, k}), C = b.Output("C", c, {m, n});
  const IndexSum i = b.Iter(0), j = b.Iter(1), l = b.Iter(2);
  const Id left = b.Make(unsigned_a ? Op::kCastUnsigned : Op::kCast, c, b.Load(A, {i, l}));
  b.Reduce("product", {{"i", m}, {"j", n}, {"k", k, IterKind::kReduction}}, Monoid::Kind::kSum, {C, {i, j}},
           b.Mul(left, b.Cast(c, b.Load(B, {j, l}))));
  return b.Finish();
}

inline Program Tensorized(Program program, const std::string& block, const IntrinsicFamily& unit) {
  Schedule s = Scheduled(std::move(program));
  const Block product = s.GetBlock(block);
  const auto [m, n, k] = s.Einsum(product, {unit.m, unit.n, unit.k});
  const auto [mo, mi] = s.Split(m, {Factor(kAuto), Factor(unit.m)});
  const auto [no, ni] = s.Split(n, {Factor(kAuto), Factor(unit.n)});
  const auto [ko, ki] = s.Split(k, {Factor(kAuto), Factor(unit.k)});
  s.Reorder({mo, no, ko, mi, ni, ki});
  if (unit.result == Storage::kRegister) {
    const Block combine = s.AccumulateAt(product, no);
    const auto loops = s.GetLoops(combine);
    s.Unroll(loops[loops.size() - 2]);
    s.Vectorize(loops.back());
  }
  s.Tensorize(mi, unit.compute);
  EXPECT_TRUE(s.ok()) << s.status();
  return s.program();
}

// An intrinsic family with these sizes that any target has.
inline IntrinsicFamily FamilyOf(const std::string& name, int64_t m, int64_t n, int64_t k) {
  return {name, m, n, k, name + ".compute"};
}

// Tensorizes single rows inside tiles of `rows` rows, which need not divide the extent.
inline Program TiledRows(Program program, const IntrinsicFamily& unit, int64_t rows) {
  Schedule s = Scheduled(std::move(program));
  const Block product = s.GetBlock("product");
  const auto [m, n, k] = s.Einsum(product, {unit.m, unit.n, unit.k});
  const auto [mo, mi] = s.Split(m, {Factor(kAuto), Factor(rows)});
  const auto [no, ni] = s.Split(n, {Factor(kAuto), Factor(unit.n)});
  const auto [ko, ki] = s.Split(k, {Factor(kAuto), Factor(unit.k)});
  s.Reorder({mo, no, ko, mi, ni, ki});
  s.Unroll(mi);
  s.Tensorize(s.Blockize(ni), unit.compute);
  EXPECT_TRUE(s.ok()) << s.status();
  return s.program();
}

}  // namespace kiln
