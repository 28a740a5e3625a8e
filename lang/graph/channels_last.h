// Puts the dimensions of a model's temporaries in an order in which channels come last, after positions.
//
//   C[f, h, w] sum= X[c, h + p, w + q]*W[f, c, p, q];  Y[f, h, w] = max(C[f, h, w], 0)
//   ->
//   W.last[p, q, c, f] = W[f, c, p, q]                                    when constants are prepared
//   C[h, w, f] sum= X[h + p, w + q, c]*W.last[p, q, c, f];  Y[h, w, f] = max(C[h, w, f], 0)
//
// Then lanes along channels are full where images are small, and a window of one element is a product of matrices whose
// lanes are neighbors in memory. The caller's arrays stay as they are.
//
//   if (ChannelsLast(model) > 0) BringToOneForm(model);      so that the iters have the order of the dimensions, too
//
// The accesses of all blocks say what a dimension is, whatever its name, number and size:
// - It is a position if a window of constants moves along it: X[h + p] is read with W[p], but not with W[h].
// - It is a channel if it is no position, and its iter indexes a constant where positions are walked, as c and f do.
// - Dimensions that one iter walks are of one kind, from operation to operation: padding, pooling, sums of two
//   branches.
// So models without windows, and those with channels last, stay as they are.
//
// Temporaries with positions and channels change, and constants that are read beside them. Four kinds of temporaries
// keep their order:
// - those that elementwise operations or padding make of inputs without permuting them: the first window reads them in
//   the order of the inputs
// - those that elementwise operations make results of without permuting them
// - those with fewer than 4 channels, which fill no vector, as the three colors of a result, and those that are
//   multiplied with constants and summed to such results
// - those with a position and another dimension that one iter indexes, as in a product after an image was flattened to
//   a vector
#pragma once

#include "lang/program/program.h"

namespace kiln {

// Puts channels last in the temporaries of an imported model, and returns how many temporaries changed. All results
// stay the same, bit for bit. BringToOneForm may then reorder sums. Safe from any thread.
int ChannelsLast(Program& model);

}  // namespace kiln
