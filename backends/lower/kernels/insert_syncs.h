// Inserts barriers of a GPU's threads, as a synchronization plan demands (lang/threads/sync_points.h), into the nodes
// of a loop plan.
//
//   const SyncPlan points = *PlanSynchronization(program);
//   InsertSyncs(points, kernel.arms[0]);
//
// Each point of the plan names a loop or block; the Sync node is inserted before its node.
#pragma once

#include "absl/status/status.h"
#include "backends/lower/plan/loop_plan.h"
#include "lang/threads/sync_points.h"

namespace kiln::plan {

// Inserts a Sync node before the node of each loop or block that the plan names. The nodes must be those of the program
// that was planned, one for each loop and block (passes/build.h).
void InsertSyncs(const SyncPlan& points, Nodes& nodes);

// Checks that all threads of a GPU kernel reach all its barriers. kFailedPrecondition if a Sync node stands below a
// loop on a thread axis that has fewer iterations than the axis has threads.
absl::Status CheckSyncs(const Node& kernel);

}  // namespace kiln::plan
