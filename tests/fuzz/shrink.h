// Shrinks a case that breaks a property while it still breaks it.
#pragma once

#include "tests/fuzz/case.h"

namespace kiln::fuzz {

// Returns the smallest case found that still breaks the property: for about `seconds`, or until none is smaller, it
// tries fewer steps, a smaller program and smaller factors. Returns `outcome` itself if no smaller case breaks it.
Outcome Shrink(const Outcome& outcome, double seconds);

}  // namespace kiln::fuzz
