// Replaces the boundaries of an imported model by foreign calls: the buffers between boundaries and blocks become
// temporaries, and are no parameters any more. The program then reads buffers that no block writes, so Verify refuses
// it; planning and outlining take it together with its calls.
//
//   Program model = imported.program;
//   SimplifyModel(model, policies);        // first, while buffers that foreign calls read are outputs that it keeps
//   const std::vector<ForeignCall> foreign = JoinForeign(imported, model);
#pragma once

#include <vector>

#include "backends/import/import.h"
#include "lang/program/foreign_call.h"

namespace kiln {

// Returns a foreign call for each boundary, with the buffers that it reads and writes. Makes the buffers in
// Imported::between temporaries of `program`, which is the imported program or has the same parameters.
std::vector<ForeignCall> JoinForeign(const Imported& imported, Program& program);

}  // namespace kiln
