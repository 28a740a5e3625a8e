// Proves that the points of a plan (lang/threads/sync_points.h) order the threads of kernels. A part of
// validator/proof/proof.h.
//
// For every two uses of a buffer that threads share, one of which writes, and for every way in which one follows the
// other (in the same iteration, or in a later iteration of a loop around both), the proof shows one of two things:
// - All threads of the block pass a point between them.
// - No two different threads use the same element. If the threads of a warp, or those of one iteration of an axis, wait
//   at a point in between, this only needs to hold for threads of different warps or iterations. It is a question about
//   integer points.
// Elements are the same if their indices are equal, or if they lie in the same place, since memory holds only
// what one iteration of the loops around all uses needs. Buffers that the plan puts in one place must take turns: all
// threads of the block pass a point between any use of one and any use of the next. Two copies of a ring are
// the same if their numbers are equal modulo its depth.
// Asynchronous copies count as complete at a point that waits for their group. Rings that count arrivals are
// handed over by their own barriers, and are not looked at. Threads of different blocks never wait for each
// other, so their elements must differ.
//
// A child of the root is a kernel. All memory except the grid's ends with its kernel, so only one kernel may use a
// buffer there.
//
// The proof uses the program and the plan, and not the analysis that made the plan.
#pragma once

#include "lang/threads/sync_points.h"
#include "validator/proof/compare.h"

namespace kiln::proof {

// Returns kYes if the plan's points order all uses of shared buffers. Otherwise returns kUnknown with the reason: two
// blocks and the buffer, a block that uses a buffer of another kernel, or a point to which not all threads come.
Finding CheckSynchronization(Decider& decider, const Spaces& spaces, const SyncPlan& plan);

}  // namespace kiln::proof
