// Fuse-Epilogue: computes an elementwise consumer tile by tile, while the tile's results are in a cache.
//
//   for i0, j0, i1, j1: for k0, i2, j2, k1, i3, j3: C[..] += A[..] * B[..]
//   for i, j: D[i, j] = max(C[i, j], 0)
//   ->
//   for i0, j0, i1, j1:
//     for k0, i2, j2, k1, i3, j3: C[..] += A[..] * B[..]
//     for i2, j2, i3, j3: D[..] = max(C[..], 0)
//
// tile_for_reuse.h offers this if a tiled block has one consumer that is not a reduction. The choice is
// epilogue = none | one per level of the option `epilogue`: 1 is below i0, j0; 2 is below i1, j1.
#pragma once

#include "modules/tiling/tiles.h"

namespace kiln {

// Computes the consumer below the last loop of tile level `level`, counted from 1. If that level has no loop, computes
// the consumer below the last loop before the first reduction level. Errors make `s` inert.
void FuseEpilogue(Schedule& s, Block consumer, const Tiles& tiles, int64_t level);

}  // namespace kiln
