// Drops expressions that nothing uses any more. Inlining leaves many of them, and every copy of a program
// would copy them.
//
// The remaining expressions keep their order and get new ids. Blocks, loops, buffers and marks keep their ids, so
// handles and traces stay valid. Dead blocks lose their destinations, values and initial values.
#pragma once

#include "lang/program/program.h"

namespace kiln {

void DropUnusedExprs(Program& program);

}  // namespace kiln
