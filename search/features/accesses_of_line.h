// Counts the instructions by which the straight line of a block (its innermost loops, as long as they are unrolled,
// vectorized or of one iteration) accesses memory, as lowering emits them:
//
//   equal loads           once, so that a window of three reads ten rows for eight results
//   lanes in a row        by registers; what is left of them by powers of two (7 lanes: 4, 2 and 1), which
//                         shuffles join
//   lanes with a step     by registers and shuffles; lane by lane if the step is large, and for stores
//   under a condition on  masked; with a step, as a gather
//   the lanes
//
// Buffers in registers need no access.
#pragma once

#include "lang/analysis/loop_nest_summary.h"

namespace kiln {

struct LineAccesses {
  double loads = 0, stores = 0;  // without those of a reduction's result
  double result_loads = 0, result_stores = 0;
  double shuffles = 0;
  double instances = 1;  // of the block, in the line
  // The number of terms in a row that a reduction adds to one result, until it goes on to another result.
  double run = 1;
};

LineAccesses AccessesOfLine(const LoopNestSummary& nests, const NestBlock& block, int64_t vector_bytes);

}  // namespace kiln
