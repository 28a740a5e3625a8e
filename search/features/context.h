// AutoTVM's context relation features (NeurIPS'18, section 3.1): one row for each block, of how numbers of
// its loops relate to each other, whatever the loops and the decisions that led to them are called.
//
// Each loop around a block is a point: its length, the product of the loops outside (top-down) and of itself
// with those inside (bottom-up), and what these touch, in total and of each buffer, with how often an element
// is touched again (reuse). A relation of i and j is the curve, at t = 0 .. 23,
//
//   R_t = max { Z_kj : Z_ki < 2^t }      over the points k; 0 where there is none
//
// Numbers are log2. Beside the curves stand the block's size and what its vectorized, unrolled and parallel
// loops are.
#pragma once

#include "lang/analysis/nests.h"
#include "search/features/footprint.h"

namespace kiln {

inline constexpr int kContextSamples = 24;
inline constexpr int kContextCurves = 10;
inline constexpr int kContextPlain = 14;
inline constexpr int kContextDim = kContextSamples * kContextCurves + kContextPlain;

// Writes kContextDim numbers to `row`, which holds zeros.
void FillContextRow(const Nests& nests, const Footprints& footprints, int block, float* row);

}  // namespace kiln
