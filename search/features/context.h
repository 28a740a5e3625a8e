// AutoTVM's context relation features (NeurIPS'18, section 3.1). Each block has one row. It describes how
// properties of the block's loops relate to each other, independent of the names of loops and of the
// decisions.
//
// Each loop with more than one iteration around a block is a point. Its coordinates are its length, the product of the
// loop lengths outside it (top-down), the product of its own length and those inside it (bottom-up), the bytes touched
// (in total and for each buffer), and how often an element is touched again (reuse). The relation of coordinates i and
// j is the curve, at t = 0 .. 23,
//
//   R_t = max { Z_kj : Z_ki < 2^t }      over the points k; 0 if there is none
//
// There are curves for ten pairs (i, j). All numbers x are written as log2(1 + x), except one flag. The row also holds
// the numbers of the block's instances, operations, loops and buffers, the extents of its vectorized, unrolled and
// parallel loops and of its innermost other loop, the strides of its lanes, and the flag, which says whether that
// innermost loop reduces.
#pragma once

#include "lang/analysis/loop_nest_summary.h"
#include "search/features/footprint.h"

namespace kiln {

inline constexpr int kContextSamples = 24;
inline constexpr int kContextCurves = 10;
inline constexpr int kContextPlain = 14;
inline constexpr int kContextDim = kContextSamples * kContextCurves + kContextPlain;

// Writes the context relation features of a block, kContextDim numbers, to `row`, which must hold zeros.
void FillContextRow(const LoopNestSummary& nests, const Footprints& footprints, int block, float* row);

}  // namespace kiln
