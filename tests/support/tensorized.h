// Builds matrix products whose innermost tiles are calls of an intrinsic, for tests.
#pragma once

#include <gtest/gtest.h>

#include <string>
#include <utility>

#include "absl/algorithm/container.h"
#include "lang/intrinsics/cpu_instructions.h"
#include "lang/patterns/intrinsic.h"
#include "lang/program/builder.h"
#include "testing/scheduled.h"

namespace kiln {

// Returns the row of a family of instructions in the table of CPU instructions, whether this machine has them or not.
// The table must have the family.
inline const CpuInstruction& RowOf(absl::string_view family) {
  const auto rows = CpuInstructions();
  return *absl::c_find_if(rows, [&](const CpuInstruction& row) { return row.family == family; });
}
inline const IntrinsicFamily& FamilyOf(const CpuInstruction& row) {
  return *FamilyThatComputesWith(row.intrinsic());
}

// Returns the program C[i, j] sum= A[i, k] * B[j, k] with the types of an instruction: A and B are widened to the type
// of C. The extents of i, j and k are 2, 2 and 3 times those of the instruction. If `rows` is above 0, it is the extent
// of i instead.
inline Program Product(const CpuInstruction& row, int64_t rows = 0) {
  Builder b("product");
  const DType factor = *ParseDType(row.factor), sum = *ParseDType(row.sum);
  const int64_t m = rows > 0 ? rows : 2 * row.m, n = 2 * row.n, k = 3 * row.k;
  const Id A = b.Input("A", factor, {m, k}), B = b.Input("B", factor, {n, k}), C = b.Output("C", sum, {m, n});
  const IndexSum i = b.Iter(0), j = b.Iter(1), l = b.Iter(2);
  const Id left = b.Make(row.unsigned_a ? Op::kCastUnsigned : Op::kCast, sum, b.Load(A, {i, l}));
  b.Reduce("product", {{"i", m}, {"j", n}, {"k", k, IterKind::kReduction}}, Monoid::Kind::kSum, {C, {i, j}},
           b.Mul(left, b.Cast(sum, b.Load(B, {j, l}))));
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

inline Program Tensorized(const CpuInstruction& row) {
  return Tensorized(Product(row), "product", FamilyOf(row));
}

// Returns the program with the block "product" in tiles of `rows` rows, which need not divide the extent. Each row of a
// tile calls the instruction of the family.
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
