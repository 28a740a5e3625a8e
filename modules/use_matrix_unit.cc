// Use-Matrix-Unit: run the inner tile of a contraction as one intrinsic of the target.
//
//   for i, j, k: C[i,j] += A[i,k] * B[k,j]
//   ->
//   for m0, n0, k0, m1, n1, k1: fma acc, A, B        // one m * n * k tile per call
//
// Applies to: blocks that MatchContraction accepts for a matrix intrinsic of the target.
// Structure:  intrinsic = none | one per family that fits
//             packed    = none | B copied below the first k level
#include "lang/analysis/contraction.h"
#include "modules/module.h"

namespace kiln {
namespace {

std::array<Loop, 2> Two(const std::vector<Loop>& loops) { return {loops[0], loops[1]}; }

}  // namespace

void UseMatrixUnit(Schedule& s, Block block) {
  if (!s.ok()) return;
  const auto fits = MatchContraction(s.program(), s.node(block), s.target().matrix_intrinsics());
  const int pick = s.Choose("intrinsic", 1 + static_cast<int>(fits.size()));
  if (pick == 0) return;
  const IntrinsicFamily& unit = *fits[pick - 1];
  const bool packed = s.Choose("packed", 2) == 1;

  const auto [m, n, k] = s.Einsum(block, {unit.m, unit.n, unit.k});  // reindex, fuse and pad
  const auto [mo, mi] = Two(s.Split(m, {kAuto, unit.m}));
  const auto [no, ni] = Two(s.Split(n, {kAuto, unit.n}));
  const auto [ko, ki] = Two(s.Split(k, {kAuto, unit.k}));
  const auto [m0, m1] = Two(s.Split(mo, {s.SamplePerfectTile(mo, {.parts = 2}, "m")}));
  const auto [n0, n1] = Two(s.Split(no, {s.SamplePerfectTile(no, {.parts = 2}, "n")}));
  const auto [k0, k1] = Two(s.Split(ko, {s.SamplePerfectTile(ko, {.parts = 2}, "k")}));
  s.Reorder({m0, n0, k0, m1, n1, k1, mi, ni, ki});
  const Block combine = s.AccumulateAt(block, n1, ToString(unit.result));
  const std::vector<Loop> result = s.GetLoops(combine);
  s.Unroll(result[result.size() - 2]);
  s.Vectorize(result.back());
  if (packed) s.ComputeAt(s.CacheRead(block, 1), k0);
  s.Tensorize(s.Blockize(mi), unit.compute);
}

KILN_MODULE("use-matrix-unit", UseMatrixUnit);

}  // namespace kiln
