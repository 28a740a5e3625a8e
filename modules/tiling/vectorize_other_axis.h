// Vectors along another dimension of the result, where its last dimension does not fill them.
//
//   for o, w: for c: Y[o, w] += X[c, w] * K[o, c]      (w < 7, o < 64)
//   ->
//   .. for w1 unrolled: for o1 in 16 lanes: acc[o, w] += X[c, w] * K.cache[o, c]     K.cache in panels of 16
//   .. for w1 unrolled: for o1 in 16 lanes: Y[o, w] = acc[o, w]                      lanes stored one by one
//
// tile_for_reuse.h offers this as the choice lanes-across. It packs what the lanes index and transposes the
// sums, so that both are contiguous along the lanes.
#pragma once

#include <optional>

#include "lang/schedule/schedule.h"

namespace kiln {

// A spatial loop that may be vectorized in place of the last one.
struct VectorAxis {
  size_t loop = 0;         // its position
  size_t dim = 0;          // the dimension of the result that it moves along
  bool in_blocks = false;  // the layout puts that dimension last (modules/layout/channels_in_blocks.cc)
};

// The innermost in memory of the dimensions that a loop fills with whole vectors. nullopt if the last
// dimension is filled itself, if no dimension is, or if `s` has failed.
std::optional<VectorAxis> FindVectorAxis(Schedule& s, Block block);

// Makes that loop the innermost spatial one, and updates its position.
void MoveInnermost(Schedule& s, Block block, VectorAxis& axis);

// Lays out what the block accumulates for its consumer with dimension `dim` of the consumer's result last.
void TransposeAccumulator(Schedule& s, Block block, size_t dim);

}  // namespace kiln
