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

// Changes the order of dimensions, or leaves some out. dims[buffer] lists the old numbers of the dimensions that the
// buffer keeps, in their new order; empty: the buffer stays as it is. A dimension that is left out must have one
// element, and each buffer that changes must have selectable dimensions (HaveSelectableDims).
void SelectDims(Program& program, const std::vector<std::vector<int>>& dims);

// Removes the dimensions of one element from temporaries and, with `of_parameters`, from all buffers. Leaves buffers
// alone whose dimensions are not selectable (HaveSelectableDims). A buffer keeps at least one dimension. No byte moves.
void DropUnitDims(Program& program, bool of_parameters);

}  // namespace kiln
