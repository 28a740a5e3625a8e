// Fuse-Epilogue: an elementwise consumer is computed tile by tile, while what it reads is in a cache.
//
//   for i0, j0, i1, j1: for k0, i2, j2, k1, i3, j3: C[..] += A[..] * B[..]
//   for i, j: D[i, j] = max(C[i, j], 0)
//   ->
//   for i0, j0, i1, j1:
//     for k0, i2, j2, k1, i3, j3: C[..] += A[..] * B[..]
//     for i2, j2, i3, j3: D[..] = max(C[..], 0)
//
// Applies to: the only consumer of a block that multi-level tiling tiles, if it is no reduction.
// Structure:  epilogue = apart | one per level of the option `epilogue`: 1 is below i0, j0, 2 below i1, j1
#include "modules/tiling/pack_operands.h"

namespace kiln {

void FuseEpilogue(Schedule& s, Block consumer, const Tiles& tiles, int64_t level) {
  Loop loop = tiles.last_before_reduction;
  if (level >= 1 && level <= static_cast<int64_t>(tiles.levels.size()) && !tiles.levels[level - 1].empty())
    loop = tiles.levels[level - 1].back();
  s.ReverseComputeAt(consumer, loop);
}

}  // namespace kiln
