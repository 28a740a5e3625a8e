// The loops of a block after multi-level tiling has split them. sample_tiles.h fills in the factors and
// the parts, tile_loops.h the order; the other steps of tile_for_reuse.h read them.
#pragma once

#include <optional>
#include <vector>

#include "lang/schedule/schedule.h"

namespace kiln {

struct Tiles {
  // By level of the structure, outermost first: the loops of that level in their order.
  std::vector<std::vector<Loop>> levels;
  // The last loops before the first reduction level, of it, and before the last reduction level.
  Loop last_before_reduction = {}, first_reduction = {}, last_before_inner = {};
  // The loops between the first and the last reduction level, outermost first.
  std::vector<Loop> between;

  // By position of the loops that were there before:
  std::vector<bool> reduces;                 // whether it is a reduction
  std::vector<std::vector<Loop>> parts;      // the loops that it was split into, outermost first
  std::vector<std::optional<Value>> width;   // the innermost factor, if it is spatial and was split
  std::vector<std::optional<Value>> depths;  // all factors, if it is a reduction and was split

  int last_window = -1;    // position of the last window (LastWindow); -1 if there is none
  std::vector<Loop> unit;  // the loops of the tile that an intrinsic computes
};

}  // namespace kiln
