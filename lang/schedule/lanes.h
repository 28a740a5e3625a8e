// Chooses which loops to vectorize, and with how many lanes. Late primitives use it.
#pragma once

#include <optional>
#include <vector>

#include "lang/program/program.h"

namespace kiln {

// True if the loop can be vectorized well: from one lane to the next, stores move by 1 element (by 0 for a
// reduction) and loads by 0 to 4, so that vectors touch few cache lines.
bool Lanes(const Program& program, Id block, Id loop);

// The loops of a block that transposes. Along `lanes` it reads neighbors in memory and writes strided; along `rows` it writes
// neighbors. Both are in `nest`: the loops that contain nothing but this block, outermost first. AsTransposing returns nullopt
// for other blocks.
struct Transposing {
  Id lanes = kNone, rows = kNone;
  int64_t panel = 0;  // rows that the layout stores next to each other; 0: all
  std::vector<Id> nest;
};
std::optional<Transposing> AsTransposing(const Program& program, Id block);

// Returns the size in bytes of the widest element that one of the blocks writes; 1 if they write nothing.
int64_t WidestResult(const Program& program, const std::vector<Id>& blocks);

// Returns how many lanes along the loop are neighbors in memory, at most `limit`. An access to a layout allows the extent of
// the last axis if the loop moves along it, and `vector` lanes if it moves along another axis. The least counts.
int64_t Together(const Program& program, Id block, Id loop, int64_t limit, int64_t vector);

// True if lanes along the loop store to elements that a layout separates, so that each lane needs a store of
// its own.
bool StoresApart(const Program& program, Id block, Id loop);

// Returns how many of `extent` iterations become lanes: all, if extent <= together. Otherwise the largest multiple of `vector`
// up to `together` that divides the extent. If there is none, all if extent <= limit, else one vector (at most `limit`).
int64_t LaneCount(int64_t extent, int64_t together, int64_t limit, int64_t vector);

}  // namespace kiln
