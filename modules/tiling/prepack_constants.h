// Prepack-Constants: stores a constant operand of a tiled block once, in the order in which the tiles read it.
//
//   for .. tiles of h, f, c, k: Y[..] += X[..] * W[k, c, f]      (W a constant)
//   ->
//   prepare for k, c, f: W.cache[k, c, f] = W[k, c, f]
//     layout (f / width, c / depth, c % depth, k, f % width)
//   for .. tiles of h, f, c, k: Y[..] += X[..] * W.cache[..]
//
// Panels of columns come first, then the tiles of the reductions in the order of their loops, then the
// elements of a tile in the order of the loops inside. A tile in registers then reads one piece of memory,
// which the piece of the next tile follows. A dimension whose index is not a loop alone stays whole.
//
// For constants, the choice read-reuse means this, in place of pack_operands.h, whose copy every call makes.
#pragma once

#include "modules/tiling/tiled_operand.h"
#include "modules/tiling/tiles.h"

namespace kiln {

// Errors make `s` inert.
void PrepackConstant(Schedule& s, Block block, const TiledOperand& operand, const Tiles& tiles);

}  // namespace kiln
