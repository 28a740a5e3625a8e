// A pass that delays strided stores until neighboring stores follow, so that they are transposed together in registers:
//
//   for i in 0..4 unrolled: for j in 0..8 lanes: C[j, i] = v_i     32 stores of one element
//   ->  transpose v_0 .. v_3;  for j: C[j, 0..4] = ..              8 stores of four
//
// A Flush node, which stores the delayed elements, stands before anything that may read or overwrite them, and at the
// end of the code in which they are computed.
#pragma once

#include "backends/lower/plan/loop_plan.h"
#include "lang/program/program.h"

namespace kiln::plan {

Nodes TransposedStores(const Program& program, const IndexPlan& indices, const Nodes& nodes);

}  // namespace kiln::plan
