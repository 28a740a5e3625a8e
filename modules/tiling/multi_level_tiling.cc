// Multi-Level-Tiling: tiles for every level of the memory hierarchy (NeurIPS'22, section 3.2).
//
//   for i, j, k: C[i,j] += A[i,k] * B[k,j]
//   -> for i0, j0, i1, j1, k0, i2, j2, k1, i3, j3: C[..] += A[..] * B[..]
//
// Applies to: unscheduled reductions that reuse what they load (HasReuse), and reductions over windows that are shorter
// than a vector, as in pooling: there the lanes go along the result. Each letter of the option `structure` is a tile
// level: S of spatial loops, R of reduction loops. The innermost tile fits the vector registers, and its last spatial
// loop gets whole vectors if these divide its extent. The tiles of the other spatial loops need not divide the extents.
// A sampling site for each loop draws its tile sizes (sample_tiles.h).
// Structure:  write-reuse = none (not for windows) | accumulators in registers above the last R level | also
//                           accumulators on the stack above the first R level
//             read-reuse  = none | one operand packed | all operands packed (pack_operands.h; constants:
//                           prepack_constants.h) | all packed, and tiles walk down the rows of each panel of
//                           columns (Goto's order)
//             vector-axis = no | vectorize another dimension of the result (vectorize_other_axis.h)
//             epilogue    = none | the consumer below a level of the option `epilogue` (fuse_epilogue.h)
#include "lang/analysis/access.h"
#include "lang/analysis/dataflow.h"
#include "modules/tiling/tile_for_reuse.h"
#include "modules/tiling/tile_loops.h"
#include "modules/unscheduled.h"

namespace kiln {
namespace {

// True if the block is a reduction over windows, as in pooling, whose last window loop is shorter than a vector.
bool ReducesShortWindows(Schedule& s, Block block) {
  const Program& p = s.program();
  const Id node = s.node(block);
  const int window = p.block(node).monoid == kNone ? -1 : LastWindow(p, node);
  if (window < 0) return false;
  const int64_t lanes = s.target().vector_bytes / SizeOf(p.buffers[WrittenBuffers(p, node)[0]].dtype);
  return p.loop(LoopsAround(p, node)[window]).extent.Known() < lanes;
}

}  // namespace

BlockModule MultiLevelTiling(MultiLevelTilingOptions options) {
  return {"multi-level-tiling", [options](Schedule& s, Block block) {
            if (!s.ok() ||
                (!ReducesShortWindows(s, block) && s.Skip(CheckReuses(s.program(), s.node(block)))) ||
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
