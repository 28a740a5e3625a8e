// Vectorizes another dimension of the result if vectors do not divide the last dimension, or would read an operand with
// gaps along it, as a convolution with stride 2 does.
//
//   for o, w: for c: Y[o, w] += X[c, w] * K[o, c]      (w < 7, o < 64)
//   ->
//   .. for w1 unrolled: for o1 in 16 lanes: acc[o, w] += X[c, w] * K.cache[o, c]     K.cache in panels of 16
//   .. for w1 unrolled: for o1 in 16 lanes: Y[o, w] = acc[o, w]                      lanes stored one by one
//
// tile_for_reuse.h offers this as the choice vector-axis. It packs the operands that the vectorized loop
// indexes and transposes the accumulator, so that vectors load and accumulate contiguous elements.
//
// If no dimension fills vectors, the lanes may go along the last one in steps, as in a transposed convolution with few
// channels:
//
//   for w < 32: for r < 2: for c: Y[o, 2*w + r] += X[c, w + r] * K[o, c, r]
//   ->
//   .. for r unrolled: for w in 32 lanes: acc[o, r, w] += X[c, w + r] * K[o, c, r]
//   .. for r unrolled: for w in 32 lanes: Y[o, 2*w + r] = acc[o, r, w]                lanes stored in pairs
#pragma once

#include <optional>

#include "lang/schedule/schedule.h"

namespace kiln {

// A spatial loop that may be vectorized instead of the last one.
struct VectorAxis {
  size_t loop = 0;         // position of the loop in LoopsAround
  size_t dim = 0;          // the dimension of the result that it indexes
  bool in_blocks = false;  // the layout puts that dimension last (module nchwc-layout)
  int64_t step = 1;        // from one iteration of the loop to the next, in that dimension
};

// Finds the dimension of a block's result to vectorize instead of the last one: the innermost in memory of those that
// one loop fills with whole vectors, or else the dimension that is innermost in memory, if a loop moves along it in
// steps and fills vectors. If the result's layout keeps another dimension innermost in memory, as NCHWc does, this
// dimension may be found too (`in_blocks`). If the last dimension is innermost and fills vectors, finds a dimension
// only if some operand is read with gaps along the last one, and does not move along the other. Returns nullopt if
// there is no such dimension, if the last dimension has no loop, if no loop fills vectors, or if `s` has failed.
std::optional<VectorAxis> FindVectorAxis(Schedule& s, Block block);

// Reorders the loops of the block such that the loop of `axis` is the innermost spatial one, and updates the position
// in `axis`.
void MoveInnermost(Schedule& s, Block block, VectorAxis& axis);

// Changes the layout of the block's accumulator such that the elements along `axis` are neighbors in memory: if `axis`
// has steps, those that are one step apart.
void TransposeAccumulator(Schedule& s, Block block, const VectorAxis& axis);

}  // namespace kiln
