// Folds what is affine in an operand of a product, such as the last step of layer norm, into the product's constants.
//
//   A[n, c] = v[n, c]*s[c] + t[c];  C[n, f] sum= A[n, c]*W[c, f]
//   ->
//   W.scaled[c, f] = W[c, f]*s[c];  W.sum[f] sum= t[c]*W[c, f]                        when constants are prepared
//   A[n, c] = v[n, c];  C[n, f] sum= A[n, c]*W.scaled[c, f], starting from W.sum[f]
//
// A lemma. The identity: Σ (v·s + t)·w = Σ v·(w·s) + Σ t·w in exact arithmetic. In floats, both sides are within
//   (n + k + 2)·ε·Σ (|v·s| + T)·|w|
// of the exact value, where n is the number of terms, k the number of operations of the affine function, and T the sum
// of the absolute values of what it adds, each scaled as in the function (as for lang/graph/fold_affine.h). It assumes
// that no scaled weight overflows or is subnormal.
#pragma once

#include "lang/program/program.h"

namespace kiln {

// Folds, in an imported model, the scale and the shift of a store into the products that read it. They then read scaled
// copies of their weights, and start from sums of shift times weight. New blocks compute both when constants are
// prepared. A store folds whole or not at all, and not if it has a shift alone: nothing would be saved. Only products
// may read it, without padding, each with a given constant as weights. Each iter on which scale or shift depends must
// alone index a whole dimension of the store's result and of the weights, and the weights must be indexed with all
// reduction iters of the product. Call FoldAffine afterwards, which moves the new start values to stores. Returns the
// number of products that changed. Safe from any thread.
int FoldBefore(Program& program);

}  // namespace kiln
