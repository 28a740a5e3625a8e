// Multi-Level-Tiling: tiles for every level of the memory hierarchy (NeurIPS'22, section 3.2).
//
//   for i, j, k: C[i,j] += A[i,k] * B[k,j]
//   -> for i0, j0, i1, j1, k0, i2, j2, k1, i3, j3: C[..] += A[..] * B[..]
//
// Applies to: reductions that reuse what they load (HasReuse). The structure is data: S a level of spatial
// tiles, R of reduction tiles. The innermost fit the vector registers together, the last as whole vectors;
// rows (the others) need not divide the extent: six rows of two vectors keep twelve sums.
// Structure:  write-reuse = none | registers above the last R level | those, and a cache above the first
//             read-reuse  = none | one operand packed | all that may be (pack_operands.h; constants:
//                           prepack_constants.h) | all, walking down the rows of each panel of columns
//                           (Goto's order)
//             vector-axis = no | along another dimension of the result (vectorize_other_axis.h)
//             epilogue    = apart | the consumer below a level of the option (fuse_epilogue.h)
#include "modules/tiling/tile_for_reuse.h"
#include "modules/tiling/tile_loops.h"
#include "modules/unscheduled.h"

namespace kiln {

BlockModule MultiLevelTiling(MultiLevelTilingOptions options) {
  return {"multi-level-tiling", [options](Schedule& s, Block block) {
            if (!s.ok() || s.Skip(CheckReuses(s.program(), s.node(block))) ||
                s.Skip(CheckUnscheduled(s.program(), s.node(block))))
              return;
            TileForReuse(s, block, options);
          }};
}

KILN_MODULE("multi-level-tiling", MultiLevelTiling,
            Option("structure", &MultiLevelTilingOptions::structure, LevelsOfTiles()),
            Option("max-innermost", &MultiLevelTilingOptions::max_innermost, From(1)),
            Option("max-reduction", &MultiLevelTilingOptions::max_reduction, From(0)),
            Option("waste-percent", &MultiLevelTilingOptions::waste_percent, Between(0, 100)),
            Option("epilogue", &MultiLevelTilingOptions::epilogue, From(1)));

}  // namespace kiln
