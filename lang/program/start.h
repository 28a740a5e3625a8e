// Tells with which value a reduction starts, bit for bit. By default, a sum of floats starts from +0.0, and then the
// sum is never -0.0. Only -0.0 is neutral: -0.0 + x is x for every x. Partial sums therefore start from -0.0 if the
// whole sum has another start value, so that terms of -0.0 keep their sign.
#pragma once

#include "lang/program/program.h"

namespace kiln {

bool IsFloatSum(const Program& program, const Monoid& monoid);

// Returns the bits of a neutral start value: -0.0 for a sum of floats, else the identity.
int64_t NeutralBits(const Program& program, const Monoid& monoid, int result);

// True if each result starts from its neutral value (NeutralBits), so that combining the start value with a first term
// gives exactly that term. Without `initial`, false only for a sum of floats, which starts from +0.0. With `initial`,
// false also for values that are no constants.
bool StartsNeutral(const Program& program, const BlockNode& reduction);

}  // namespace kiln
