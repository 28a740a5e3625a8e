// Checks the analysis of bindings (lang/analysis/bindings.h) against a direct evaluation of bindings.
#pragma once

#include "tests/fuzz/session.h"

namespace kiln::fuzz {

// Checks at 12 random iterations of the loops around each block that an instance exists if and only if the resolved
// guards hold, and that its iters then have the resolved values. Skips blocks that are inside two or more other blocks.
// Returns the first fault.
Broken CheckBindings(const Program& program, Dice& dice);

}  // namespace kiln::fuzz
