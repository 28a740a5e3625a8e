// Drops expressions that nothing uses any more: inlining leaves many, and copies of a program carry them
// along.
//
// Those that stay keep their order and get new ids. Blocks, loops, buffers and marks keep theirs, so that
// handles and traces mean what they meant.
#pragma once

#include "lang/program/program.h"

namespace kiln {

void DropUnusedExprs(Program& program);

}  // namespace kiln
