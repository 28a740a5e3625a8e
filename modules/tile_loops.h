// The loops of a block, split into tiles for every level of a structure, and put in its order.
#pragma once

#include <vector>

#include "modules/tiling.h"

namespace kiln {

struct Tiles {
  std::vector<std::vector<Loop>> levels;  // loops of each level of the structure
  Loop last_before_reduction = {}, first_reduction = {}, last_before_inner = {};
};

// Samples the tiles (sites R0, S1, .. by the loop's position), splits, reorders, and unrolls the innermost.
Tiles TileLoops(Schedule& s, Block block, const MultiLevelTilingOptions& options);

// The innermost `count` of the loops; the last of them is left to become lanes.
void UnrollInner(Schedule& s, const std::vector<Loop>& loops, size_t count);

}  // namespace kiln
