// Leaves out dimensions with one element.
//
//   Y[0, i] = X[i, 0] + b[i]      ->      Y[i] = X[i] + b[i]
#pragma once

#include "lang/program/program.h"

namespace kiln {

// Removes the dimensions of one element of temporaries, and with `of_parameters` of parameters too. At least one
// dimension stays. Buffers with a layout, or that are read at computed indices, stay as they are. No byte moves. Safe
// from any thread.
void DropUnitDims(Program& program, bool of_parameters);

}  // namespace kiln
