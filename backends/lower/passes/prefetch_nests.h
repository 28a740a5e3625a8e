// A pass that prefetches across the end of a nest of loops: in its last iteration, a nest fetches the panel (adjacent
// elements of a buffer) that the next nest reads first.
//
//   for i 4 { for j 8 { .. } }            for i 3 { for j 8 { .. } }
//   for n 6 { .. B[n*512 + k*16] .. }  -> for i 3..4 { for j 8 { prefetch B[j*64] lines 4  .. } }
//                                         for n 6 { .. B[n*512 + k*16] .. }
//
// A panel is all that the innermost loops of a reduction read of a buffer: of as many loops as leave no gaps. The
// buffer is a parameter or constant that no nest of the function writes, and larger than the caches of a core. The
// outermost loop of the first nest (of several iterations) must run serially and to its end.
#pragma once

#include "backends/lower/passes/lower_options.h"
#include "backends/lower/plan/loop_plan.h"
#include "lang/program/program.h"

namespace kiln::plan {

Nodes PrefetchNests(const Program& program, const IndexPlan& indices, const Nodes& nodes,
                    const LowerOptions& options);

}  // namespace kiln::plan
