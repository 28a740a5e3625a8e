// The instances of a block below a loop, as a tile. blockize makes a block of it, and tensorize matches it.
#pragma once

#include <vector>

#include "absl/status/statusor.h"
#include "lang/analysis/bindings.h"
#include "lang/program/program.h"

namespace kiln {

// An iter is outer * tile + inner, 0 <= inner < tile; `outer` over what is outside of the loop (loops, and
// iters of the block around), `inner` over the loop and those below.
struct TilePart {
  Sum outer, inner;
  int64_t tile = 1;
  std::vector<Guard> outside, inside;  // of its existence, beside its own extent
};

struct Tile {
  std::vector<TilePart> parts;  // by iter
};

// The loop and the block are in one scope. kFailedPrecondition where an iter cannot be divided, or a guard
// depends on both sides.
absl::StatusOr<Tile> TileBelow(const Program& program, Id block, Id loop);

}  // namespace kiln
