// Computes once what a model computes twice.
//
//   M[i] = S[i]*0.5;  N[i] = S[i]*0.5;  Y[i] = M[i] + N[i]      ->      M[i] = S[i]*0.5;  Y[i] = M[i] + M[i]
#pragma once

#include "lang/program/program.h"

namespace kiln {

// Merges blocks of an imported model that compute the same from the same buffers, if their results are temporaries that
// nothing else writes. Leaves alone blocks with annotations, and blocks that read a buffer which they or a later block
// write. The first of equal blocks stays. Returns the number of blocks that are gone. Safe from any thread.
int MergeEqualBlocks(Program& program);

}  // namespace kiln
