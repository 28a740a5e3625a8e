// Samples the tile sizes of a block and splits its loops by them.
//
//   structure SSRSRS:  for i, k   ->   R1 = SamplePerfectTile(k, 2 parts), S0 = SampleTile(i, 4 parts)
//                                      for i0; for i1; for k0; for i2; for k1; for i3
//
// A sampling site is named after its loop: S or R and the loop's position. The innermost spatial tiles together fit the
// vector registers, or the registers of the intrinsic. The last spatial loop gets whole vectors if these divide it.
#pragma once

#include "lang/patterns/intrinsic.h"
#include "modules/default_modules.h"
#include "modules/tiling/tiles.h"

namespace kiln {

// Samples the tiles of a block's loops, splits the loops, and returns the parts: the fields `levels`, `unit` and all
// fields by position of Tiles. Loops of extent 1, and loops of a kind with one level in the structure, are not split
// and have no sampling site. With `unit`, the last three loops are m, n and k of a contraction, and the factors count
// tiles of this intrinsic. Errors make `s` inert.
Tiles SampleTiles(Schedule& s, Block block, const MultiLevelTilingOptions& options,
                  const IntrinsicFamily* unit);

}  // namespace kiln
