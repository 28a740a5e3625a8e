// Removes dead steps: steps that leave the program alone and whose results no other step uses.
#pragma once

#include "trace/trace.h"

namespace kiln {

// The trace without dead steps, transitively, its handles numbered anew. Replay gives an equal program.
// Sampling steps whose values nothing uses are dead too: their sites vanish.
Trace Simplify(const Trace& trace);

}  // namespace kiln
