// Whether what analyses read off bindings (lang/analysis/bindings.h) is what bindings say.
#pragma once

#include "tests/fuzz/session.h"

namespace kiln::fuzz {

// At some iterations of the loops around each block: it exists where its resolved guards hold, and its iters
// have the resolved values there.
Broken CheckBindings(const Program& program, Dice& dice);

}  // namespace kiln::fuzz
