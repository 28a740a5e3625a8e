// Inserts a block that initializes the result before each reduction whose initialization is only implied ("derived").
//
//   for k: C[i,j] += A[i,k] * B[k,j]      (derived initialization)
//   ->
//   for i, j: C[i,j] = identity           (the loops below the outermost reduction loop that feed
//                                          spatial iters)
//   for k: C[i,j] += A[i,k] * B[k,j]      (accumulates)
//
// The new block stands before the outermost loop of several iterations that feeds a reduction iter, in copies of the
// spatial loops inside it. A copy has the kind of its loop, but a pipelined loop becomes serial. A reduction without
// such a loop becomes a plain store of combine(identity or initial value, term), or of the term alone if this value is
// neutral. A reduction over thread axes of a GPU alone stays as it is, unless it has initial values.
//
// With `starts_inside`, a reduction stays as it is if its innermost reduction loop contains other blocks too, it has no
// initial values (except neutral ones), and its first instance is the one where all reduction loops are at 0: the
// emitter stores there instead of combining. This is not done if vector lanes are reduced, or if the first term may be
// skipped.
#pragma once

#include "lang/program/program.h"

namespace kiln {

void DecomposeReductions(Program& program, bool starts_inside = true);

}  // namespace kiln
