// Prefetches what the next iteration of an outer loop loads, from buffers larger than the caches of a core, and the
// places that other blocks of the nest will store to. The hardware prefetcher stops at the end of a page. Blocks that
// compute little leave no time for prefetching.
#pragma once

#include "backends/lower/passes/lower_options.h"
#include "backends/lower/plan/loop_plan.h"
#include "lang/program/program.h"

namespace kiln::plan {

Nodes PrefetchStreams(const Program& program, const IndexPlan& indices, const Nodes& nodes,
                      const LowerOptions& options);

}  // namespace kiln::plan
