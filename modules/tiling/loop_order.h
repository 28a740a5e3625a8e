// Orders the loops of a block like the dimensions of its result in memory. Vectors along the innermost spatial loop
// then store neighboring elements.
//
//   for j, k, i: C[i, j] += A[i, k] * B[k, j]      ->      for i, j, k: C[i, j] += A[i, k] * B[k, j]
#pragma once

#include <optional>
#include <vector>

#include "modules/tiling/vectorize_other_axis.h"

namespace kiln {

// Orders the loops of a block that is not tiled yet like the dimensions of its result; reduction loops come last. Does
// nothing if `s` has failed.
void OrderByResult(Schedule& s, Block block);

// Orders the loops below `above` of a block that combines the accumulators of a tile like the dimensions of the result.
// Loops that move along the vectorized dimension `axis` come last. Returns the loops in their new order, or an empty
// list if `s` has failed.
std::vector<Loop> OrderCombine(Schedule& s, Block combine, Loop above, const std::optional<VectorAxis>& axis);

}  // namespace kiln
