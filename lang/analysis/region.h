// The region of a buffer that the blocks below a loop touch in one iteration of that loop.
#pragma once

#include <vector>

#include "lang/analysis/bindings.h"
#include "lang/program/program.h"

namespace kiln {

// base .. base + extent - 1, base a sum over loops that are outside.
struct DimRange {
  Sum base;
  int64_t extent = 1;
  bool dense = false;  // proven: every value is touched (guards not considered)
};
using Region = std::vector<DimRange>;  // one per dimension of the buffer
bool IsDense(const Region& region);

// What the loads (the stores) of a block touch of `buffer` while the loops at and outside of `at` stand
// still. `at` is a loop, a block or the root; a dimension that the algebra cannot bound is whole. Values are
// not clipped to the buffer: instances that do not exist, and loads under kWithin, may make the range larger
// than what is really touched, never smaller.
Region ReadRegion(const Program& program, const Bindings& bindings, Id buffer, Id at);
Region WrittenRegion(const Program& program, const Bindings& bindings, Id buffer, Id at);

// What the loops below `at` make of an iter of a block, guards not considered;
// nullopt if the algebra cannot bound it.
std::optional<DimRange> IterRange(const Program& program, const Bindings& bindings, int iter, Id at);

// The marks (over the iters of `block`) of the indices of a gather that are functions of the iters and within
// their dimensions; kNone for the others, of which nothing is known.
std::vector<int32_t> GatherMarks(const Program& program, Id block, const Expr& gather);

// True if every place that `part` spans is one that `whole` spans.
bool Contains(const Region& whole, const Region& part);

// Without what is known to lie outside of 0 .. extent-1; not empty.
DimRange Clipped(DimRange range, int64_t extent);

// The smallest region of this form that holds both.
Region Union(const Program& program, Id buffer, const Region& a, const Region& b);

// For which ranges of its iters a block makes a region of its one result; `exact`: and nothing else.
struct Making {
  std::vector<DimRange> ranges;
  bool exact = true;
};
Making MakingOf(const Program& program, Id block, const Region& region);

// The iter that an index is, apart from an offset: index = iter + offset.
struct SimpleIndex {
  int iter = -1;
  int64_t offset = 0;
};
std::optional<SimpleIndex> AsSimpleIndex(const Program& program, Id mark);

}  // namespace kiln
