// A pass that prefetches across the end of a nest of loops: in its last iteration, a nest fetches the panel (adjacent
// elements of a buffer) that the next nest reads first.
//
//   for i 4 { for j 8 { .. } }            for i 3 { for j 8 { .. } }
//   for n 6 { .. B[n*512 + k*16] .. }  -> for i 3..4 { for j 8 { prefetch B[j*64] lines 4  .. } }
//                                         for n 6 { .. B[n*512 + k*16] .. }
//
// A panel is what the innermost loops of a reduction read of a buffer: as many loops as read it without gaps. The
// buffer is a parameter or constant that no nest of the function writes, and larger than the caches of a core. The
// first nest's outermost loop with several iterations must run serially and always to its end.
#pragma once

#include "backends/lower/passes/lower_options.h"
#include "backends/lower/plan/loop_plan.h"
#include "lang/program/program.h"

namespace kiln::plan {

Nodes PrefetchNests(const Program& program, const IndexPlan& indices, const Nodes& nodes,
                    const LowerOptions& options);

}  // namespace kiln::plan
