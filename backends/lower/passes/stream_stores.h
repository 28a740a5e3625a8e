// A pass that makes stores of whole aligned vectors to a parameter bypass the caches, if their block has the annotation
// `stream` and no masked lanes. Adds memory fences, which order these stores before what follows: at the end of each
// iteration of a parallel loop that has such stores, and at the end of the function.
#pragma once

#include "backends/lower/passes/lower_options.h"
#include "backends/lower/plan/loop_plan.h"
#include "lang/program/program.h"

namespace kiln::plan {

Nodes StreamStores(const Program& program, const IndexPlan& indices, const Nodes& nodes,
                   const LowerOptions& options);

}  // namespace kiln::plan
