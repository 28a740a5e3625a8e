// Prepack-Constants: stores a constant operand of a tiled block once, in the order in which the tiles read
// it.
//
//   for .. tiles of h, f, c, k: Y[..] += X[..] * W[k, c, f]      (W a constant)
//   ->
//   prepare for k, c, f: W.cache[k, c, f] = W[k, c, f]
//     layout (f / width, c / depth, c % depth, k, f % width)
//   for .. tiles of h, f, c, k: Y[..] += X[..] * W.cache[..]
//
// The layout has panels of columns first, then the reduction tiles in the order of their loops, then the elements of a
// tile in the order of the loops inside. A register tile then reads one contiguous piece of memory, and the next tile's
// piece follows it. A dimension whose index is not a single loop stays whole, and so does the only dimension that tiled
// reduction loops index, unless an intrinsic reads several of its elements at once.
//
// The choice read-reuse packs constants with this step. Other operands are packed by pack_operands.h, whose
// copy runs at every call.
#pragma once

#include "modules/tiling/tiled_operand.h"
#include "modules/tiling/tiles.h"

namespace kiln {

// Adds a block to the prepare phase that copies the constant `operand` in the order in which the tiled `block` reads
// it. Errors make `s` inert.
void PrepackConstant(Schedule& s, Block block, const TiledOperand& operand, const Tiles& tiles);

}  // namespace kiln
