// Draws the tile sizes of a block and splits its loops by them.
//
//   structure SSRSRS:  for i, k   ->   R1 = SamplePerfectTile(k, 2 parts), S0 = SampleTile(i, 4 parts)
//                                      for i0; for i1; for k0; for i2; for k1; for i3
//
// The sites are named S or R and the position of the loop. The innermost spatial tiles together fit the vector
// registers, or the registers of the unit. The last spatial loop gets whole vectors where they divide it.
#pragma once

#include "lang/patterns/intrinsic.h"
#include "modules/default_modules.h"
#include "modules/tiling/tiles.h"

namespace kiln {

// Fills levels, unit, and everything by position. Loops of extent 1 stay whole and have no site.
// With a unit, the last three loops are m, n and k, and the factors count its tiles. Errors make `s` inert.
Tiles SampleTiles(Schedule& s, Block block, const MultiLevelTilingOptions& options,
                  const IntrinsicFamily* unit);

}  // namespace kiln
