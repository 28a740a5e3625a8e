// Computes once what a model computes twice.
//
//   M[i] = S[i]*0.5;  N[i] = S[i]*0.5;  Y[i] = M[i] + N[i]      ->      M[i] = S[i]*0.5;  Y[i] = M[i] + M[i]
#pragma once

#include "lang/program/program.h"

namespace kiln {

// Of blocks of an imported model that compute the same from the same buffers, keeps the first, if their results are
// temporaries that nothing else writes. Returns the number of blocks that are gone. Safe from any thread.
int MergeEqualBlocks(Program& program);

}  // namespace kiln
