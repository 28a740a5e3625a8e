// Replaces the pipelined loops of a GPU kernel by loops without stages. With two stages of which the second multiplies:
//
//   for k 4 { sync copy multiply }
//     ->  sync for k 1 { copy } for k 4 { sync for k 1..2 ahead { copy } multiply }
//
// In turn t, a child of stage s runs iteration t - s of the pipelined loop. The first turns, in which the last stage
// has no iteration yet, stand before the new loop. Each turn has all syncs, also those before children that do not run
// in it, since they also order other children. Copies into asynchronous rings become asynchronous stores; each turn
// ends their group (a Commit) after the last copy. Only children of the last stage, which are most of the code, occur
// once.
#pragma once

#include "backends/lower/plan/loop_plan.h"
#include "lang/program/program.h"
#include "lang/threads/sync_points.h"

namespace kiln::plan {

// Replaces all pipelined loops in the nodes by loops without stages. Each child of such a loop must have a stage.
// `points` says which rings (buffers with a copy for each of several iterations) are filled asynchronously.
void WriteOutPipelines(const Program& program, const SyncPlan& points, Nodes& nodes);

}  // namespace kiln::plan
