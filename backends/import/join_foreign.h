// Puts foreign calls in the place of boundaries: the buffers between them and the blocks become temporaries, and are no
// parameters any more. The program then reads buffers that no block writes, so Verify refuses it; planning and outlining
// take it together with its calls.
#pragma once

#include <vector>

#include "backends/import/import.h"
#include "lang/program/foreign_call.h"

namespace kiln {

// One call for each boundary.
std::vector<ForeignCall> JoinForeign(Imported& imported);

}  // namespace kiln
