// Merges neighboring dimensions that all accesses index together.
//
//   for h in 0..7: for w in 0..7: for f in 0..64: for c in 0..32: Y[h, w, f] sum= X[h, w, c] * W[c, f]
//   ->
//   for hw in 0..49: for f in 0..64: for c in 0..32: Y[hw, f] sum= X[hw, c] * W[c, f]
//
// A convolution with a 1x1 window becomes a matrix product, whose tiles may cross the rows of the image.
// Buffers are row-major, so their bytes do not move: callers pass the same data as before.
#pragma once

#include "lang/program/program.h"
#include "lang/target/cost_table.h"
#include "lang/target/policies.h"

namespace kiln {

// Returns the program with results written in their final shape (lang/graph/forward_copies.h), with strided reads of
// reductions copied to dense buffers (lang/graph/densify_strided_reads.h), and with dimensions merged. Two iters merge
// if every access of their block uses both as whole neighboring dimensions or neither, and if the same holds for all
// other accesses to these buffers. Both must be spatial or both reductions, and no condition or index value (kIndex) of
// the block may name them. Iters of extent 1 in an index are ignored unless they are all of it. Returns a copy of the
// program if nothing changes, or if the program is not as imported: each block in its own nest, with a loop for each
// iter, and no buffer with a layout. Pure; safe from any thread.
//
// Without the policy "merge-dims" no dimensions merge, without "forward-copies" copies stay, and without
// "densify-strided-reads" nothing is copied densely.
Program MergeDims(const Program& program, const Policies& policies = {}, const CostTable& costs = {});

}  // namespace kiln
