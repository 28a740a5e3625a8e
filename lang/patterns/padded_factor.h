// Sums of products with a factor that is zero outside of an image, as convolutions of padded inputs have.
#pragma once

#include "lang/program/program.h"

namespace kiln {

// Whether the block is a sum whose terms are products with such a factor:
//   P[y] = (1 <= y < 15 ? X[y - 1] : 0);  C[h] sum= P[h + i] * W[i]
// The factor may also be padded in the block itself, or be a copy of a copy of P, up to four of them.
bool HasPaddedFactor(const Program& program, Id block);

}  // namespace kiln
