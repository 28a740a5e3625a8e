// Splits the loops of a block into tiles, one group of loops per level of a structure, and orders them.
//
//   structure SSRSRS:  for i, j, k   ->   for i0, j0, i1, j1, k0, i2, j2, k1, i3, j3      i3 unrolled
#pragma once

#include <vector>

#include "modules/tiling/sample_tiles.h"

namespace kiln {

// Samples the tiles (sample_tiles.h), reorders the loops by level, and unrolls the innermost level.
// Within the last reduction level the window comes last: neighboring rows then load the same elements.
// columns_first: between the reduction levels, the last spatial loop goes around the others.
// unit: the innermost tile consists of tiles of this intrinsic. Errors make `s` inert.
Tiles TileLoops(Schedule& s, Block block, const MultiLevelTilingOptions& options, bool columns_first = false,
                const IntrinsicFamily* unit = nullptr);

// Unrolls the last `count` of the loops except the very last, which is left for vectors.
void UnrollInner(Schedule& s, const std::vector<Loop>& loops, size_t count);

// What the option `structure` accepts.
Allowed LevelsOfTiles();

}  // namespace kiln
