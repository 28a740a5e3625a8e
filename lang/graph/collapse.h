// Dimensions that are always walked together, as one.
//
//   for h in 0..7: for w in 0..7: for f in 0..64: for c in 0..32: Y[h, w, f] sum= X[h, w, c] * W[c, f]
//   ->
//   for hw in 0..49: for f in 0..64: for c in 0..32: Y[hw, f] sum= X[hw, c] * W[c, f]
//
// A convolution with a window of one element is a product of matrices, whose tiles need not end where rows of
// the image do. Buffers are row-major, so that no byte of them moves: callers pass what they passed before.
#pragma once

#include "lang/program/program.h"

namespace kiln {

// The program, as it was imported (each block in a nest of its own, a loop for each iter), with results
// written where they are wanted (lang/graph/direct_results.h), and with two iters as one wherever no access of
// their block uses one without the other beside it, in whole dimensions, and where the same is true of all
// other accesses to these buffers. The program itself if there are none. Iters of extent one are no part of
// an index unless they are all of it. Pure; safe from any thread.
Program Collapse(const Program& program);

}  // namespace kiln
