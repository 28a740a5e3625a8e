// A case that breaks a property, made smaller while it still does.
#pragma once

#include "tests/fuzz/case.h"

namespace kiln::fuzz {

// Fewer steps, a smaller program, smaller factors; within about `seconds`.
Outcome Shrink(const Outcome& outcome, double seconds);

}  // namespace kiln::fuzz
