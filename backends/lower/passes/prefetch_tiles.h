// Two passes that insert prefetches at loops that run, for buffers larger than the caches of a core.
//
// PrefetchResults: before the loops that compute a tile in registers, prefetches the part of the result to which a
// later sibling adds the tile. PrefetchPanels: if several tiles read the same panel (adjacent elements of a buffer) one
// after the other, each prefetches a part of the next panel: before its loops, or, if that would be many lines at once,
// a few in each iteration. Smaller constants count too, because between two runs of a model its other weights take the
// caches.
#pragma once

#include "backends/lower/passes/lower_options.h"
#include "backends/lower/plan/loop_plan.h"
#include "lang/program/program.h"

namespace kiln::plan {

Nodes PrefetchResults(const Program& program, const IndexPlan& indices, const Nodes& nodes,
                      const LowerOptions& options);
Nodes PrefetchPanels(const Program& program, const IndexPlan& indices, const Nodes& nodes,
                     const LowerOptions& options);

}  // namespace kiln::plan
