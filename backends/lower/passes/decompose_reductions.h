// Turns derived initializations of reductions into blocks.
//
//   for k: C[i,j] += A[i,k] * B[k,j]      (derived initialization)
//   ->
//   for i, j: C[i,j] = identity           (the loops below the outermost reduction loop that feed
//                                          spatial iters)
//   for k: C[i,j] += A[i,k] * B[k,j]      (accumulates)
//
// The initialization goes before the outermost loop that feeds a reduction iter, and copies the spatial loops
// with their kinds, but a pipelined loop as a serial one. A reduction without such a loop becomes a plain store
// of combine(identity or initial, lift). With `starts_inside`, a reduction stays as it is if its innermost reduction loop
// contains other blocks too and its first instance is the one where all reduction loops are at 0: the emitter stores there
// instead of combining. (Not if lanes are reduced, or if the first term may be skipped.)
#pragma once

#include "lang/program/program.h"

namespace kiln {

void DecomposeReductions(Program& program, bool starts_inside = true);

}  // namespace kiln
