// The dimensions of a result in the order in which they lie in memory, and the loops that move along each.
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

// The dimensions of a buffer, outermost first. One that the layout divides counts where its last part lies.
std::vector<size_t> DimsInMemory(const Program& program, Id buffer);

struct ResultAxis {
  size_t dim = 0;              // of the first result
  std::vector<Id> loops;       // that its index depends on
  std::vector<Id> contiguous;  // those of them that belong to a part of the index with scale 1
};
// The axes of the first result of bindings.block, outermost in memory first.
std::vector<ResultAxis> ResultAxes(const Program& program, const Bindings& bindings);

// The iter that, plus at most a constant, is the index of the last dimension of the first result.
std::optional<int> LastDimIter(const Program& program, Id block);

}  // namespace kiln
