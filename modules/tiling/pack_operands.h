// Pack-Operands: copies an operand of a tiled block into panels as wide as its innermost tiles, above the
// loops that read it again.
//
//   for k0: for i1, j1: for k1: for i2, j2: C[..] += A[..] * B[k, j]
//   -> for k0: for j, k1, j2: B.cache[j, k1, j2] = B[..];  for i1, j1: for k1: for i2, j2: .. B.cache[..]
//
// Where a tiled loop is the index of a dimension, the copy cuts that dimension by the innermost factor of the
// loop, a random variable; other dimensions stay whole. The copy stands below the first reduction level, and
// from there below the loops that it depends on, up to the first that it does not (K. Goto, R. van de Geijn,
// "Anatomy of High-Performance Matrix Multiplication", TOMS 2008, section 4). So its place needs no site: it
// follows from the order of the loops, which the choice read-reuse decides.
#pragma once

#include "modules/tiling/tiled_operand.h"
#include "modules/tiling/tiles.h"

namespace kiln {

// Errors make `s` inert.
void PackOperand(Schedule& s, Block block, const TiledOperand& operand, const Tiles& tiles);

}  // namespace kiln
