// Recognizes sums of products with a factor that is zero outside of an image, such as convolutions of padded
// inputs.
#pragma once

#include "lang/program/program.h"

namespace kiln {

// True if the block is a sum of products with such a factor:
//   P[y] = (1 <= y < 15 ? X[y - 1] : 0);  C[h] sum= P[h + i] * W[i]
// The padding may also be in the block itself, or up to four copies before it.
bool HasPaddedFactor(const Program& program, Id block);

}  // namespace kiln
