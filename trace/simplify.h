// Removes dead steps. A dead step does not change the program, and no other step uses its results.
#pragma once

#include "trace/trace.h"

namespace kiln {

// Removes dead steps, which do not change the program and whose results no other step uses, until none is left.
// Renumbers the handles. Replay gives an equal program. Sampling steps whose values no step uses are dead too: their
// sites vanish.
Trace Simplify(const Trace& trace);

}  // namespace kiln
