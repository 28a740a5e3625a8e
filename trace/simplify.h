// Removes dead steps. A dead step does not change the program, and no other step uses its results.
#pragma once

#include "trace/trace.h"

namespace kiln {

// Removes dead steps until none is left, and renumbers the handles. Replay gives an equal program. Sampling
// steps whose values no step uses are dead too: their sites vanish.
Trace Simplify(const Trace& trace);

}  // namespace kiln
