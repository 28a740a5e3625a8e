// Copies strided reads of a reduction to a dense buffer.
//
//   Y[f, h, w] sum= X[c, h*2, w*2] * W[f, c]
//   ->
//   X.dense[c, h, w] = X[c, h*2, w*2];  Y[f, h, w] sum= X.dense[c, h, w] * W[f, c]
//
// A convolution with a 1x1 window and stride 2 then is a matrix product (lang/graph/merge_dims.h) that loads
// whole vectors. Each element is copied once and read for each f.
#pragma once

#include <vector>

#include "lang/program/program.h"
#include "lang/target/cost_table.h"

namespace kiln {

// Copies each operand of a reduction that is read at every second, third, .. element of a dimension, if the extents of
// the spatial iters that do not index it multiply to at least costs.dense_reuse: each element is read so often. Skips
// operands that the block writes. The copy runs before the block's nest, which must contain only this block. Returns
// the copying blocks, none for a block that does not reduce. Safe from any thread.
std::vector<Id> DensifyStridedReads(Program& program, Id block, const CostTable& costs = {});

}  // namespace kiln
