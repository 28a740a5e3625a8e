// Brings computations that different exporters write differently to one form.
//
//   T[i, j] = Y[i, j] + b[j];  Z[i, j] = select(T[i, j] > 0, T[i, j], 0)
//   ->
//   Z[i, j] = max(Y[i, j] + b[j], 0)
//
// Then equal layers have equal tasks, and so one record serves all of them.
#pragma once

#include "lang/program/program.h"

namespace kiln {

// Writes the expressions of an imported model in one way (lang/graph/plain_expressions.h). Inlines its blocks that
// store a number, integers that follow from their iters, or elements of a constant without permuting them. No bit
// changes.
void InlineRepeatedConstants(Program& program);

// Brings an imported model to one form:
// - expressions are written in one way (lang/graph/plain_expressions.h)
// - blocks that compute the same become one block (lang/graph/equal_blocks.h)
// - a store whose only reader is a store with as many instances, which reads each element once, is inlined, if that
//   permutes nothing and the reader does not write a part of a concatenation
// - a store that only reshapes or repeats a buffer, without permuting it, is inlined everywhere, and so is one that
//   only permutes a buffer if all its readers are copies that permute again
// - of the two operands of a float sum, product, maximum or minimum, the one that the model computes later comes first;
//   inputs come after what is computed, then constants, then numbers
// - blocks whose results nothing reads are left out
// - iters with one value, and dimensions of temporaries with one element, are left out
//
// Without `assume_numbers` not a bit of a result changes. With it, clips may treat NaN in another way, and a zero may
// have another sign; returns how many expressions this concerns. Safe from any thread.
int BringToOneForm(Program& program, bool assume_numbers = false);

}  // namespace kiln
