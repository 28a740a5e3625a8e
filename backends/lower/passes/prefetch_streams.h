// A pass that inserts prefetches before vectorized blocks that read a buffer larger than the caches of a core: of the
// elements that the next iteration of an outer loop will load, and of the elements of results to which other blocks of
// the nest will store. The hardware prefetcher does not help, because it stops at the end of a page. Leaves out blocks
// with masked lanes, and blocks that compute little, because they leave no time for prefetching.
#pragma once

#include "backends/lower/passes/lower_options.h"
#include "backends/lower/plan/loop_plan.h"
#include "lang/program/program.h"

namespace kiln::plan {

Nodes PrefetchStreams(const Program& program, const IndexPlan& indices, const Nodes& nodes,
                      const LowerOptions& options);

}  // namespace kiln::plan
