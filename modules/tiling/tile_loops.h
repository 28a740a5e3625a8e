// Splits the loops of a block into tiles, one group of loops for each level of a structure, and orders them.
//
//   structure SSRSRS:  for i, j, k   ->   for i0, j0, i1, j1, k0, i2, j2, k1, i3, j3      i3 unrolled
#pragma once

#include <vector>

#include "modules/tiling/sample_tiles.h"

namespace kiln {

// Splits the block's loops into sampled tiles (sample_tiles.h), orders the loops by level, and unrolls the innermost
// level except its last loop, which is vectorized later or, with an intrinsic, unrolled too. Under
// Policy::kInnermostWindow, the last loop over the window of a convolution becomes the innermost loop of the last
// reduction level, so that neighboring rows load the same elements.
// - columns_first: in each spatial level between the first and the last reduction level, the last loop comes first.
// - unit: the innermost tile consists of tiles of this intrinsic.
// Errors make `s` inert.
Tiles TileLoops(Schedule& s, Block block, const MultiLevelTilingOptions& options, bool columns_first = false,
                const IntrinsicFamily* unit = nullptr);

// Unrolls the last `count` loops of the list except the very last one, which is vectorized later.
void UnrollInner(Schedule& s, const std::vector<Loop>& loops, size_t count);

// Returns the values that the option `structure` accepts: texts of S and R with at least one of each.
Allowed LevelsOfTiles();

}  // namespace kiln
