// Removes dead steps. A dead step does not change the program, and no other step uses its results.
#pragma once

#include "trace/trace.h"

namespace kiln {

// Returns the trace without dead steps, applied repeatedly, with its handles renumbered. Replay gives an
// equal program. Sampling steps whose values no step uses are dead too: their sites vanish.
Trace Simplify(const Trace& trace);

}  // namespace kiln
