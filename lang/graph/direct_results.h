// Results in the shape in which they are wanted, without a copy.
//
//   T[h, g, f] sum= ...;  Y[h, i] = T[h, i/16, i%16]      ->      Y[h, g*16 + f] sum= ...
//
// What an importer makes of operations that give a result another shape, such as those around the groups of a
// convolution. Inlining cannot do it where the producer is a reduction.
#pragma once

#include "lang/program/program.h"

namespace kiln {

// Lets the writers of temporaries that are only copied, element by element in the order of memory, write to
// the copies. Returns whether there were any. Nodes of the copies are dead then. Safe from any thread.
bool WriteDirectly(Program& program);

}  // namespace kiln
