// Computes which region of a buffer a block touches in one iteration of a loop around it, or in the whole program.
#pragma once

#include <vector>

#include "lang/analysis/bindings.h"
#include "lang/program/program.h"

namespace kiln {

// The values base .. base + extent - 1 of an index in one dimension. `base` is a sum over outer loops.
struct DimRange {
  IndexSum base;
  int64_t extent = 1;
  bool dense = false;  // proven: every value is touched, if guards are ignored
};
using Region = std::vector<DimRange>;  // one per dimension of the buffer
bool IsDense(const Region& region);

// Return the region of `buffer` that a block touches while `at` and the loops outside of it are fixed: ReadRegion by
// loads and gathers, WrittenRegion by stores. `at` is a loop, a block or the root. A dimension that the algebra cannot
// bound is whole. Values are not clipped to the buffer. Missing instances and loads under kWithin may make the region
// too large, but it is never too small. It is empty if the block does not access the buffer.
Region ReadRegion(const Program& program, const Bindings& bindings, Id buffer, Id at);
Region WrittenRegion(const Program& program, const Bindings& bindings, Id buffer, Id at);

// Returns the range of an iter of the block while `at` and the loops outside of it are fixed. Ignores guards. Returns
// nullopt if the algebra cannot bound it.
std::optional<DimRange> IterRange(const Program& program, const Bindings& bindings, int iter, Id at);

// Queries of marks that the index algebra could not divide, such as f in f/24 with f = x*8 + v. IsMadeBelow: the mark
// depends on loops below `at` alone. TakesEveryValue: these loops provably give the mark every value of its extent.
// IsAlone: no other term of `value` depends on the loops of the mark. A mark for which all three are true is like one
// loop.
bool IsMadeBelow(const Program& program, Id mark, Id at);
bool TakesEveryValue(const Program& program, Id mark, Id at);
bool IsAlone(const Program& program, Id mark, const IndexSum& value);

// Returns, for each index of a gather, its mark over the iters of `block`, if the index is the value of a mark (kIndex)
// that is proven to lie within its dimension; otherwise kNone.
std::vector<int32_t> GatherMarks(const Program& program, Id block, const Expr& gather);

// True if proven: in each dimension, the range of `part` lies within the range of `whole`. Ignores gaps in `whole` (see
// IsDense).
bool Contains(const Region& whole, const Region& part);

// Removes values that provably lie outside of 0 .. extent-1 from the range; at least one value remains. Leaves a range
// whose base is not constant unchanged.
DimRange Clipped(DimRange range, int64_t extent);

// Returns a region that contains the regions `a` and `b`, which may be empty. A dimension is whole if the two bases in
// it depend on loops in different ways. A dimension is dense only if the result provably has no gaps.
Region Union(const Program& program, Id buffer, const Region& a, const Region& b);

// The ranges of a block's iters that compute a region of its only result. Iters that do not alone (or plus a constant)
// index the result take all their values. `exact`: proven that the ranges compute nothing else.
struct Making {
  std::vector<DimRange> ranges;
  bool exact = true;
};
Making MakingOf(const Program& program, Id block, const Region& region);

// An index that is one iter plus a constant: index = iter + offset.
struct SimpleIndex {
  int iter = -1;
  int64_t offset = 0;
};
std::optional<SimpleIndex> AsSimpleIndex(const Program& program, Id mark);

}  // namespace kiln
