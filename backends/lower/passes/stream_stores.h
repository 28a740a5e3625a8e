// Lets whole aligned vectors of a result bypass the caches, where the block has the annotation stream, and orders
// these stores before what follows: a fence at the end of each parallel iteration, and of the function.
#pragma once

#include "backends/lower/passes/lower_options.h"
#include "backends/lower/plan/loop_plan.h"
#include "lang/program/program.h"

namespace kiln::plan {

Nodes StreamStores(const Program& program, const IndexPlan& indices, const Nodes& nodes,
                   const LowerOptions& options);

}  // namespace kiln::plan
