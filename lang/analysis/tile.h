// Describes the instances of a block below a loop as a tile. blockize makes a block of it; tensorize matches
// it with an intrinsic.
#pragma once

#include <vector>

#include "absl/status/statusor.h"
#include "lang/analysis/bindings.h"
#include "lang/program/program.h"

namespace kiln {

// An iter as outer * tile + inner with 0 <= inner < tile. `outer` depends on what is outside of the loop
// (loops, and iters of the enclosing block). `inner` depends on the loop and the loops below it.
struct TilePart {
  IndexSum outer, inner;
  int64_t tile = 1;
  std::vector<Guard> outside, inside;  // guards beside the iter's own extent
};

struct Tile {
  std::vector<TilePart> parts;  // by iter
};

// Divides each iter of the block into a part outside of the loop and a part inside. The loop and the block must be in
// one scope. kFailedPrecondition if an iter cannot be divided so, or if a guard depends on both parts and cannot be
// divided.
absl::StatusOr<Tile> TileBelow(const Program& program, Id block, Id loop);

}  // namespace kiln
