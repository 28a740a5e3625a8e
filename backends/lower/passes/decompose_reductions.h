// Derived initializations become blocks.
//
//   for k: C[i,j] += A[i,k] * B[k,j]      (derived initialization)
//   ->
//   for i, j: C[i,j] = identity           (the loops below the outermost reduction loop that feed
//                                          spatial iters)
//   for k: C[i,j] += A[i,k] * B[k,j]      (accumulates)
//
// The initialization goes right before the outermost loop that feeds a reduction iter and keeps the kinds of
// the loops it copies. A reduction without such a loop becomes a plain store of combine(identity or initial,
// lift). One that combines what other blocks below its reduction loops made stays as it is (it does not
// accumulate): where these loops are all at 0, the emitter stores instead of combining.
#pragma once

#include "lang/program/program.h"

namespace kiln {

void DecomposeReductions(Program& program);

}  // namespace kiln
