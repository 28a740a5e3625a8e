// Vectorizes another dimension of the result if vectors do not divide the last dimension.
//
//   for o, w: for c: Y[o, w] += X[c, w] * K[o, c]      (w < 7, o < 64)
//   ->
//   .. for w1 unrolled: for o1 in 16 lanes: acc[o, w] += X[c, w] * K.cache[o, c]     K.cache in panels of 16
//   .. for w1 unrolled: for o1 in 16 lanes: Y[o, w] = acc[o, w]                      lanes stored one by one
//
// tile_for_reuse.h offers this as the choice vector-axis. It packs the operands that the vectorized loop
// indexes and transposes the accumulator, so that vectors load and accumulate contiguous elements.
#pragma once

#include <optional>

#include "lang/schedule/schedule.h"

namespace kiln {

// A spatial loop that may be vectorized instead of the last one.
struct VectorAxis {
  size_t loop = 0;         // its position
  size_t dim = 0;          // the dimension of the result that it indexes
  bool in_blocks = false;  // the layout puts that dimension last (module nchwc-layout)
};

// Finds the dimension that one loop fills with whole vectors; of several, the innermost in memory. Returns
// nullopt if the last dimension already fills vectors, if no dimension does, or if `s` has failed.
std::optional<VectorAxis> FindVectorAxis(Schedule& s, Block block);

// Makes the loop of `axis` the innermost spatial one, and updates its position.
void MoveInnermost(Schedule& s, Block block, VectorAxis& axis);

// Changes the accumulator's layout such that dimension `dim` of the consumer's result is last.
void TransposeAccumulator(Schedule& s, Block block, size_t dim);

}  // namespace kiln
