// Brings computations that different exporters write differently to one form. Not a bit of a result changes.
//
//   T[i, j] = Y[i, j] + b[j];  Z[i, j] = select(T[i, j] > 0, T[i, j], 0)
//   ->
//   Z[i, j] = max(Y[i, j] + b[j], 0)
//
// Then equal layers have equal tasks, and so one record serves all of them.
#pragma once

#include "lang/program/program.h"

namespace kiln {

// In an imported model:
// - a store whose only reader is a store with as many instances, which reads each element once, is inlined,
//   if that permutes nothing and the reader does not write a part of a concatenation
// - a store that only reshapes or repeats a temporary in order is inlined everywhere
// - max is written as max, also if NaN is greater than all numbers: select(x >u c, x, c), of a number c
// - a quotient by a power of two is a product
// - of operands that may be exchanged, those that the model computes later come first, then constants, then numbers
// - iters with one value, and dimensions of temporaries with one element, are left out
// Safe from any thread.
void BringToOneForm(Program& program);

}  // namespace kiln
