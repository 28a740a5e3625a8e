// Puts the dimensions of buffers in another order, or leaves out those with one element.
//
//   Y[c, h] = X[c, h + 1]         ->      Y[h, c] = X[h + 1, c]       SelectDims, of X and Y: {1, 0}
//   Y[0, i] = X[i, 0] + b[i]      ->      Y[i] = X[i] + b[i]          DropUnitDims
//
// Safe from any thread.
#pragma once

#include <vector>

#include "lang/program/program.h"

namespace kiln {

// Returns, by buffer, 1 if its dimensions may be selected: it has no layout, and no block reads it at computed indices.
std::vector<char> HaveSelectableDims(const Program& program);

// Selects dimensions. `dims` gives, by buffer, the old numbers of the dimensions that it gets; empty: it stays as it is. A
// dimension that is left out has one element. All buffers that change have selectable dimensions.
void SelectDims(Program& program, const std::vector<std::vector<int>>& dims);

// Removes the dimensions of one element of temporaries, and with `of_parameters` of parameters too, where they are
// selectable. At least one dimension stays. No byte moves.
void DropUnitDims(Program& program, bool of_parameters);

}  // namespace kiln
