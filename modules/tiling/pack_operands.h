// Pack-Operands: copies an operand of a tiled block into panels as wide as the innermost tiles. The copy runs
// above the loops that read the operand again.
//
//   for k0: for i1, j1: for k1: for i2, j2: C[..] += A[..] * B[k, j]
//   -> for k0: for j, k1, j2: B.cache[j, k1, j2] = B[..];  for i1, j1: for k1: for i2, j2: .. B.cache[..]
//
// If a tiled loop is the index of a dimension, the copy splits that dimension by the loop's innermost factor, which is
// sampled. Other dimensions stay whole. The copy is below the first reduction level and below the loops after it that
// index the operand, up to the first loop that does not (K. Goto, R. van de Geijn, "Anatomy of High-Performance Matrix
// Multiplication", TOMS 2008, section 4). If all loops up to the last reduction level index the operand, the copy is
// directly below the first reduction level. The loop order, which the choice read-reuse decides, thus fixes the place
// of the copy, which is not sampled.
#pragma once

#include "modules/tiling/tiled_operand.h"
#include "modules/tiling/tiles.h"

namespace kiln {

// Adds a block that copies `operand` of the tiled `block` into panels. Errors make `s` inert.
void PackOperand(Schedule& s, Block block, const TiledOperand& operand, const Tiles& tiles);

}  // namespace kiln
