#include "modules/tiling/fuse_epilogue.h"

namespace kiln {

void FuseEpilogue(Schedule& s, Block consumer, const Tiles& tiles, int64_t level) {
  Loop loop = tiles.last_before_reduction;
  if (level >= 1 && level <= static_cast<int64_t>(tiles.levels.size()) && !tiles.levels[level - 1].empty())
    loop = tiles.levels[level - 1].back();
  s.ReverseComputeAt(consumer, loop);
}

}  // namespace kiln
