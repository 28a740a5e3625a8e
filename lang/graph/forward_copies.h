// Removes copies that only give a result another shape: the producer writes the copy's result directly.
//
//   T[h, g, f] sum= ...;  Y[h, i] = T[h, i/16, i%16]      ->      Y[h, g*16 + f] sum= ...
//
// Importers create such copies for operations that reshape a result, for example around grouped convolutions.
// Inlining cannot remove them if the producer is a reduction.
#pragma once

#include "lang/program/program.h"

namespace kiln {

// If a temporary is only copied, element by element in memory order, its writers write to the copy's result instead,
// and the copy's nodes die. Nothing else may write that result, both buffers must have the same dtype and no layout,
// and the index algebra must express the writers' new indices. Returns true if anything changed. Safe from any thread.
bool ForwardCopies(Program& program);

}  // namespace kiln
