// Chooses which loops to vectorize, and with how many lanes. Late primitives use it.
#pragma once

#include <optional>
#include <vector>

#include "lang/program/program.h"

namespace kiln {

// True if the loop can be vectorized well: from one lane to the next, stores move by 1 element (by 0 if the loop
// feeds a reduction) and loads by 0 to 4, so that vectors touch few cache lines.
bool Lanes(const Program& program, Id block, Id loop);

// The loops of a block that transposes. Along `lanes`, the block reads neighbors in memory and writes with a stride;
// along `rows`, it writes neighbors. Both are in `nest`: the serial loops that contain nothing but this block,
// outermost first. AsTransposing returns nullopt for a block that reduces, has several results, or does not transpose.
struct Transposing {
  Id lanes = kNone, rows = kNone;
  int64_t panel = 0;  // rows that the layout stores next to each other; 0: all
  std::vector<Id> nest;
};
std::optional<Transposing> AsTransposing(const Program& program, Id block);

// Returns the size in bytes of the widest element that one of the blocks writes; 1 if they write nothing.
int64_t WidestResult(const Program& program, const std::vector<Id>& blocks);

// Returns how many lanes along the loop can lie next to each other in memory, at most `limit`. Each access to a buffer
// with a layout limits them: to the extent of the layout's last axis if the loop moves along that axis, and to `vector`
// if it moves along another axis. The least limit counts.
int64_t Together(const Program& program, Id block, Id loop, int64_t limit, int64_t vector);

// True if the block stores to a buffer whose layout separates the elements of adjacent iterations of the loop. Each
// lane then needs a store of its own.
bool StoresApart(const Program& program, Id block, Id loop);

// Returns how many iterations of a loop with this extent become lanes: all of them if extent <= together. Otherwise the
// largest multiple of `vector` up to `together` that divides the extent. If there is none, all if extent <= limit, else
// `vector` (at most `limit`).
int64_t LaneCount(int64_t extent, int64_t together, int64_t limit, int64_t vector);

}  // namespace kiln
