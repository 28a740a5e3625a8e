// Shrinks a case that breaks a property while it still breaks it.
#pragma once

#include "tests/fuzz/case.h"

namespace kiln::fuzz {

// Tries fewer steps, a smaller program and smaller factors, for about `seconds`.
Outcome Shrink(const Outcome& outcome, double seconds);

}  // namespace kiln::fuzz
