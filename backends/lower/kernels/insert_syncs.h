// Puts the syncs of a synchronization plan (lang/threads/sync_points.h) into the nodes of a loop plan.
//
//   const SyncPlan points = *PlanSynchronization(program);
//   InsertSyncs(points, kernel.arms[0]);
//
// A sync stands before the node of the loop or block that its point comes before.
#pragma once

#include "absl/status/status.h"
#include "backends/lower/plan/loop_plan.h"
#include "lang/threads/sync_points.h"

namespace kiln::plan {

// Inserts the syncs. The nodes must be those of the program that was planned, one for each loop and block
// (passes/build.h).
void InsertSyncs(const SyncPlan& points, Nodes& nodes);

// Checks that all threads of the kernel reach all syncs. kFailedPrecondition if a sync stands below a loop on a thread
// axis that only some of them run.
absl::Status CheckSyncs(const Node& kernel);

}  // namespace kiln::plan
