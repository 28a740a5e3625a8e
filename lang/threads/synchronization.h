// Decides where the threads of a GPU kernel must wait for each other.
//
// Two accesses of a buffer conflict if one of them writes and different threads may use the same element. The analysis
// walks each kernel in program order and remembers the accesses since the last point. It walks the body of a loop
// twice, but once if it reaches the loop again; it walks a pipelined loop step by step. Where an access conflicts with
// a remembered one, it adds a point, unless an earlier point or the barriers of a ring (RingPlan::counts_arrivals)
// order the two. The point is as far out as possible, and at the beginning of the loop if the other access is of an
// earlier iteration. Buffers of threads and fragments need no points, since each element stays in the registers of one
// thread. The analysis tells elements of other buffers apart by their indices and by their positions in memory: a
// buffer's memory may hold only what one iteration of the loops around all its uses needs. Where the points allow it,
// buffers in shared memory use the same place one after the other (shared_places.h).
//
//   absl::StatusOr<SyncPlan> plan = PlanSynchronization(program);
//   for (const SyncPoint& point : plan->points) ...
//
// The program must pass Verify and CheckOwners. Returns kFailedPrecondition if threads of different blocks would have
// to wait for each other within a kernel; the message names the buffer and both program blocks. A program without axes
// has an empty plan. Pure function; thread-safe.
#pragma once

#include "absl/status/statusor.h"
#include "lang/threads/sync_points.h"

namespace kiln {

absl::StatusOr<SyncPlan> PlanSynchronization(const Program& program);

}  // namespace kiln
