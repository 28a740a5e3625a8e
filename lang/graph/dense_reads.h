// What a reduction reads in steps, side by side.
//
//   Y[f, h, w] sum= X[c, h*2, w*2] * W[f, c]
//   ->
//   X.dense[c, h, w] = X[c, h*2, w*2];  Y[f, h, w] sum= X.dense[c, h, w] * W[f, c]
//
// A convolution with a window of one element and steps of two is a product of matrices then
// (lang/graph/collapse.h), and reads whole vectors. Each element is copied once and read for each f.
#pragma once

#include <vector>

#include "lang/program/program.h"

namespace kiln {

// Copies what a reduction reads at every second element of a dimension, or every third, .., where each
// element is read at least 16 times, before its nest, in which it is alone. Returns the blocks that copy.
// Safe from any thread.
std::vector<Id> ReadDensely(Program& program, Id block);

}  // namespace kiln
