// Puts foreign calls in the place of boundaries: the buffers between them and the blocks become temporaries, and are no
// parameters any more. The program then reads buffers that no block writes, so Verify refuses it; planning and outlining
// take it together with its calls.
//
//   Program model = imported.program;
//   SimplifyModel(model, policies);        // before: it takes the buffers that foreign calls read for results
//   const std::vector<ForeignCall> foreign = JoinForeign(imported, model);
#pragma once

#include <vector>

#include "backends/import/import.h"
#include "lang/program/foreign_call.h"

namespace kiln {

// Returns a call for each boundary, and makes temporaries of the buffers in Imported::between. `program` is the imported
// one, or has the same parameters.
std::vector<ForeignCall> JoinForeign(const Imported& imported, Program& program);

}  // namespace kiln
