// Chooses the loops to vectorize, and how many of their iterations. For late steps.
#pragma once

#include <optional>
#include <vector>

#include "lang/program/program.h"

namespace kiln {

// The accesses of a block step by 0, 1 or a little along the loop: lanes load and store few cache lines.
bool Lanes(const Program& program, Id block, Id loop);

// What a block that transposes walks along: it reads neighbours in memory along `lanes`, which it writes
// apart, and writes neighbours along `rows`. Both are among `nest`: the loops around that hold it alone, from
// outside.
struct Transposing {
  Id lanes = kNone, rows = kNone;
  int64_t panel = 0;  // how many rows a layout puts next to each other; 0: all
  std::vector<Id> nest;
};
std::optional<Transposing> AsTransposing(const Program& program, Id block);

// Bytes of the widest element that one of the blocks writes.
int64_t WidestResult(const Program& program, const std::vector<Id>& blocks);

// How many lanes lie next to each other in memory, as far as layouts say: those of the last axis, if the loop
// moves along it; a vector, if it moves along others.
int64_t Together(const Program& program, Id block, Id loop, int64_t limit, int64_t vector);

// Whether lanes along the loop store elements that a layout puts apart, so that each is a store of its own.
bool StoresApart(const Program& program, Id block, Id loop);

// How many of `extent` iterations become lanes: all up to `together`, else the largest divisor that fills
// whole vectors, else all up to `limit`, else a vector.
int64_t LaneCount(int64_t extent, int64_t together, int64_t limit, int64_t vector);

}  // namespace kiln
