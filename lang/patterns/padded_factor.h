// Tells whether a block sums products with a factor that is read as 0 outside the bounds of a buffer, such as a
// convolution of a padded input.
#pragma once

#include "lang/program/program.h"

namespace kiln {

// True if the block is a sum of products with a factor that is 0 where conditions on its indices fail (kWithin), such
// as P here, which is 0 outside the bounds of X:
//   P[y] = (1 <= y < 15 ? X[y - 1] : 0);  C[h] sum= P[h + i] * W[i]
// The padding may also be in the block itself, or up to four blocks before it, with only copies in between.
bool HasPaddedFactor(const Program& program, Id block);

}  // namespace kiln
