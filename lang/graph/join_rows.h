// Joins products of several rows of one operand with the same constants, such as those of the steps of an unrolled
// recurrent network with their inputs.
//
//   P0[f] sum= X[0, c]*W[c, f];   P1[f] sum= X[1, c]*W[c, f];   ..
//   ->
//   P0.rows[r, f] sum= X[r, c]*W[c, f]
//   P0[f] = P0.rows[0, f];   P1[f] = P0.rows[1, f];   ..
//
// The constants are read once. The copies are views of the rows (lang/graph/views.h) where these are aligned. Terms and
// their order stay as they are, so results change only where schedules reorder the sums.
#pragma once

#include "lang/program/program.h"

namespace kiln {

// Joins sums of an imported model that differ only in where they read one operand, at evenly spaced indices of one
// dimension. The operand must be no constant, and complete before the first of them. Sums that are results of the
// model, or that some block gathers from, are not joined. Joins only where an estimate says that it gains
// (JoinEstimate). Returns the number of sums that were joined into others. Safe from any thread.
int JoinRows(Program& program);

}  // namespace kiln
