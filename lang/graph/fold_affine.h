// Folds what is affine in the result of a product, such as batch norm, into the product's constants.
//
//   C[n, f] sum= X[n, c]*W[c, f];  Y[n, f] = max((C[n, f] - m[f])*s[f] + b[f], 0)
//   ->
//   W.scaled[c, f] = W[c, f]*s[f];  C.shift[f] = (0 - m[f])*s[f] + b[f]    when constants are prepared
//   C[n, f] sum= X[n, c]*W.scaled[c, f];  Y[n, f] = max(C[n, f] + C.shift[f], 0)
//
// A lemma. The identity: s·Σ x·w + t = Σ x·(w·s) + t in exact arithmetic. In floats, both sides are within
//   (n + k + 1)·ε·(|s|·Σ |x·w| + T)
// of the exact value, where n is the number of terms, k the number of operations of the affine function, and T the
// sum of the absolute values of what it adds, each scaled as in the function (N. Higham, Accuracy and Stability of
// Numerical Algorithms, sections 3.1 and 4.2). It assumes that no scaled weight overflows or is subnormal.
// A zero may change its sign.
#pragma once

#include "lang/program/program.h"

namespace kiln {

// Folds, in an imported model, the scales and shifts of all sums of products of which one factor is a constant that the
// caller gives (or computed from such constants). The block that reads the sum may do more, such as a maximum; blocks
// in between, each of which only applies an affine function, are inlined first (also if nothing folds then). A start
// value of the sum that reads constants alone becomes a part of the shift.
//
// A scale folds if each iter on which it depends indexes a whole dimension of the weights by itself. Nothing folds if
// the sum is a result of the model, if its readers are anything but one store that reads each element once, or if it
// starts from 0 and its reader only adds a number or a constant that needs no computing. If a sum does not fold with
// its reader, a new store adds its start value to the finished sum, unless the start value is a number or the sum is a
// result. Returns the number of sums that changed in either way. Safe from any thread.
int FoldAffine(Program& program);

}  // namespace kiln
