// All that multi-level tiling does with a block: tiles, sums in registers, copies of operands, the epilogue.
// multi_level_tiling.cc lists the choices; multi_level_tiling_with_intrinsic.cc puts an intrinsic inside.
#pragma once

#include "lang/patterns/intrinsic.h"
#include "modules/default_modules.h"

namespace kiln {

// The block must be untouched (modules/untouched.h) and a reduction; with a unit, a contraction that the unit
// fits. `s` fails with kInvalidArgument if the option epilogue names a level that the structure lacks.
void TileForReuse(Schedule& s, Block block, const MultiLevelTilingOptions& options,
                  const IntrinsicFamily* unit = nullptr);

}  // namespace kiln
