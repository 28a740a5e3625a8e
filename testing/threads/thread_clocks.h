// Judges without compiling whether the threads of kernels wait for each other where they must. Walks a program as a GPU
// would run it, each thread block with the threads of its axes, and keeps a vector clock for each thread (Mattern 1989;
// FastTrack, PLDI 2009). Every element of shared and global memory remembers who wrote and read it last. Two accesses
// of an element, of which one writes, must be ordered by the sync points of a plan, or they race.
//
//   absl::Status status = CheckThreadClocks(program, plan);
//
// kFailedPrecondition: a race, with both accesses. Elements are judged twice: by their indices, and as they
// lie in memory if a temporary keeps only what one iteration of the loops around all its uses needs. Buffers that
// the plan puts in one place must take turns: all uses of one come before those of the next, and none comes back.
// Clocks follow from the points alone, so one walk judges every schedule of the threads. Asynchronous copies have
// clocks beside their thread's, which only a wait joins. A copy of a ring that counts arrivals is handed over by its
// own barriers. Lanes that share a fragment use memory together.
// Neither the analysis that derives plans nor the loop plan of lowering is used here: the clocks must not
// share their mistakes.
//
// A child of the root is a kernel. Memory of threads, warps and blocks ends with its kernel, so a use of it by another
// kernel is an error, too (kFailedPrecondition).
//
// Loads at computed indices are only judged for this. kResourceExhausted if the walk would take more than `limit`
// accesses, or if a thread block of a kernel has more than 2048 threads. Pure function; thread-safe.
#pragma once

#include "absl/status/status.h"
#include "lang/threads/sync_points.h"

namespace kiln {

absl::Status CheckThreadClocks(const Program& program, const SyncPlan& plan, int64_t limit = 4'000'000);

}  // namespace kiln
