// Shrinks a failing case of the fuzzer to a smaller one that breaks the same property.
#pragma once

#include "tests/fuzz/case.h"

namespace kiln::fuzz {

// Returns the smallest case found that still breaks the property: for about `seconds`, or until none is smaller, it
// tries fewer steps, a smaller program and smaller factors, and at last the simplified trace. Returns `outcome` itself
// if no other case breaks the property.
Outcome Shrink(const Outcome& outcome, double seconds);

}  // namespace kiln::fuzz
