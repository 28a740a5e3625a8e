// Writes pipelined loops as loops without stages. With two stages of which the second multiplies:
//
//   for k 4 { sync copy multiply }
//     ->  sync for k 1 { copy } for k 4 { sync for k 1..2 ahead { copy } multiply }
//
// Before it, a child runs in each iteration; after it, a child of stage s runs s turns later. Each turn has all syncs,
// also those before children that it leaves out, since they order what others of its children do. Copies into
// asynchronous rings become asynchronous stores; each turn commits them as a group after the last. Only children of the
// last stage are there once: they are most of the code.
#pragma once

#include "backends/lower/plan/loop_plan.h"
#include "lang/program/program.h"
#include "lang/threads/sync_points.h"

namespace kiln::plan {

// Writes out all pipelined loops in the nodes. Each child of such a loop must have a stage. The plan says which rings are
// asynchronous.
void WriteOutPipelines(const Program& program, const SyncPlan& points, Nodes& nodes);

}  // namespace kiln::plan
