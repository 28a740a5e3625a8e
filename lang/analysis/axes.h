// The dimensions of a result in their order in memory, and the loops that each dimension's index depends on.
//
//   for i, j, k: C[j, i] += A[i, k] * B[k, j]      ResultAxes: {dim 0, loops j}, {dim 1, loops i}
//   the same with layout (d1, d0) of C             ResultAxes: {dim 1, loops i}, {dim 0, loops j}
//
// The block must be live and have a result. There are no errors.
#pragma once

#include <optional>
#include <vector>

#include "lang/analysis/bindings.h"
#include "lang/program/program.h"

namespace kiln {

// Returns the dimensions of a buffer in memory order, outermost first. Without a layout, this is the order of the
// shape. If the layout splits a dimension, its innermost part counts.
std::vector<size_t> DimsInMemory(const Program& program, Id buffer);

struct ResultAxis {
  size_t dim = 0;              // a dimension of the first result
  std::vector<Id> loops;       // the loops that its index depends on
  std::vector<Id> contiguous;  // the `loops` that bind an iter whose term in the index has scale 1
};
// Returns, for each dimension of the first result of bindings.block, the loops that its index depends on. The dimension
// that is outermost in memory comes first.
std::vector<ResultAxis> ResultAxes(const Program& program, const Bindings& bindings);

// Returns the iter that indexes the last dimension of the first result, alone or plus a constant. Returns nullopt if
// the index is anything else, or the result has no dimensions.
std::optional<int> LastDimIter(const Program& program, Id block);

}  // namespace kiln
