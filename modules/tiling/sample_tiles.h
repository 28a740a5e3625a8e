// Samples the tile sizes of a block and splits its loops by them.
//
//   structure SSRSRS:  for i, k   ->   R1 = SamplePerfectTile(k, 2 parts), S0 = SampleTile(i, 4 parts)
//                                      for i0; for i1; for k0; for i2; for k1; for i3
//
// A site is named after the loop: S or R and the loop's position. The innermost spatial tiles together fit
// the vector registers, or the registers of the unit. The last spatial loop gets whole vectors if these
// divide it.
#pragma once

#include "lang/patterns/intrinsic.h"
#include "modules/default_modules.h"
#include "modules/tiling/tiles.h"

namespace kiln {

// Fills `levels`, `unit` and all fields by position of the returned Tiles. Loops of extent 1 are not split
// and have no site. With a unit, the last three loops are m, n and k, and the factors count tiles of the
// unit. Errors make `s` inert.
Tiles SampleTiles(Schedule& s, Block block, const MultiLevelTilingOptions& options,
                  const IntrinsicFamily* unit);

}  // namespace kiln
