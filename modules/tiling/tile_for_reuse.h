// The steps of multi-level tiling on one block: tiles, accumulators in registers, packed operands, epilogue.
// multi_level_tiling.cc lists the choices; multi_level_tiling_with_intrinsic.cc tiles around an intrinsic.
#pragma once

#include "lang/patterns/intrinsic.h"
#include "modules/default_modules.h"

namespace kiln {

// Tiles the block, which must be an unscheduled reduction (CheckUnscheduled). With `unit`, it must be a contraction
// that this intrinsic can compute. `s` fails with kInvalidArgument if the option `epilogue` names a level that the
// structure lacks.
void TileForReuse(Schedule& s, Block block, const MultiLevelTilingOptions& options,
                  const IntrinsicFamily* unit = nullptr);

}  // namespace kiln
