// How a reduction starts, bit for bit. A sum of floats starts from +0.0 unless it says otherwise, and then it
// is never -0.0; only -0.0 is neutral: -0.0 + x is x for every x. Parts of a sum that starts from something
// else therefore start from -0.0, so that terms of -0.0 keep their sign.
#pragma once

#include "lang/program/program.h"

namespace kiln {

bool IsFloatSum(const Program& program, const Monoid& monoid);

// Bits of a constant that combines with x to x: those of -0.0 for a sum of floats, else the identity's.
int64_t NeutralBits(const Program& program, const Monoid& monoid, int result);

// Whether combining the start of the reduction with a first term gives that term.
bool StartsNeutral(const Program& program, const BlockNode& reduction);

}  // namespace kiln
