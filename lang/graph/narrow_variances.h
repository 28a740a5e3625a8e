// Computes variances of f32 values in f32, where an exporter computes them in f64.
//
//   C[i, j] = f64(X[i, j]);  S[i] sum= C[i, j];  M[i] = S[i]/n;  D[i, j] = C[i, j] - M[i];  Q[i, j] = D[i, j]*D[i, j]
//   V[i] sum= Q[i, j];  R[i] = f32(V[i]/n)
//   ->
//   the same in f32
//
// A lemma. Let n be the number of terms of a row, v the exact sum of squares, and a the mean of |X|. In f32, with ε =
// 2^-24, the computed mean is within (n + 1)·ε·a of the exact one. The deviations from any value m' have the sum of
// squares v + n·(m' - m)², so the result V' in f32 is, in the first two orders of ε, within
//   |V' - v| <= (n + 4)·ε·v + n·(n + 1)²·ε²·a²
// (T. Chan, G. Golub, R. LeVeque, Algorithms for computing the sample variance, 1983: two passes). It assumes that no
// square and no sum overflows or is subnormal in f32.
#pragma once

#include "lang/program/program.h"

namespace kiln {

// Computes in f32 all variances of f32 values that the model computes in f64, as the mean of squared deviations from
// the mean, if nothing else reads the f64 values. Both sums must take the same elements of X. Returns the number of
// variances. Safe from any thread.
int NarrowVariances(Program& program);

}  // namespace kiln
