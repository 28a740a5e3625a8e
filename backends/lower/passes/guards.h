// A pass that tests the conditions of blocks as far outside as their loops allow, once for a whole tile if possible:
//
//   loops that end where a guard fails                          for i 16 trim c0
//   a test around all instances that share its answer           if c0 { }
//   code for complete tiles, and code for the others            if c0 c1 { } else { }
//   code for each position at the boundary of an image          switch c0 { all { } -1 { } 6 { } }, so that zero terms
//       (BlockPlan::droppable) are left out there instead of being tested for each element
//
// In code for incomplete tiles, prefetches are left out, and unrolled loops become loops that run, because that code is
// shorter. Loops that index a buffer in registers, and those inside of a vectorized loop, stay unrolled. Each block's
// node keeps only the guards that nothing around it has decided. Without this pass, each instance tests all its guards.
#pragma once

#include "backends/lower/passes/lower_options.h"
#include "backends/lower/plan/loop_plan.h"
#include "lang/program/program.h"

namespace kiln::plan {

Nodes Guards(const Program& program, const IndexPlan& indices, const Nodes& nodes,
             const LowerOptions& options);

}  // namespace kiln::plan
