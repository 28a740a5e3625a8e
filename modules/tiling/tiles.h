// The loops of a block after multi-level tiling has split them. SampleTiles sets the factors and parts,
// TileLoops orders the loops, and the other steps of TileForReuse read them.
#pragma once

#include <optional>
#include <vector>

#include "lang/schedule/schedule.h"

namespace kiln {

struct Tiles {
  // The loops of each level of the tile structure in their order, outermost level first.
  std::vector<std::vector<Loop>> levels;
  // The innermost loop outside of the first reduction level, the innermost loop of the first reduction level, and the
  // innermost loop outside of the last reduction level. Inert if there is no such loop.
  Loop last_before_reduction = {}, first_reduction = {}, last_before_inner = {};
  // The loops of all levels between the first and the last reduction level, without these two, outermost first.
  std::vector<Loop> between;

  // The next fields have one entry for each loop of the block before tiling, by its position.
  std::vector<bool> reduces;                 // true for reduction loops
  std::vector<std::vector<Loop>> parts;      // the loops that the loop was split into, outermost first
  std::vector<std::optional<Value>> width;   // innermost factor of a spatial loop that was split
  std::vector<std::optional<Value>> depths;  // all factors of a reduction loop that was split

  int last_window = -1;    // position of the last window loop (LastWindow); -1 if there is none
  std::vector<Loop> unit;  // the loops of the tile that an intrinsic computes
};

}  // namespace kiln
