// Orders loops as the result of their block lies in memory, so that vectors along the innermost loop store
// neighboring elements.
//
//   for j, k, i: C[i, j] += A[i, k] * B[k, j]      ->      for i, j, k: C[i, j] += A[i, k] * B[k, j]
#pragma once

#include <optional>
#include <vector>

#include "modules/tiling/vectorize_other_axis.h"

namespace kiln {

// Orders the loops of a block that is not tiled yet; reductions come last. Does nothing if `s` has failed.
void OrderByResult(Schedule& s, Block block);

// Orders the loops below `above` of a block that combines the sums of a tile: those that store along `axis`
// come last. Returns the loops in their new order; none if `s` has failed.
std::vector<Loop> OrderCombine(Schedule& s, Block combine, Loop above, const std::optional<VectorAxis>& axis);

}  // namespace kiln
