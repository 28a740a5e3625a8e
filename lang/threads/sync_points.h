// Lists where the threads of a kernel wait for each other, as plain data. PlanSynchronization
// (lang/threads/synchronization.h) derives the points from a program; lowering, limits and checks read them.
#pragma once

#include <vector>

#include "lang/program/program.h"

namespace kiln {

// A point where all threads of a group wait for each other: before the child `before` of the node `parent` runs, in
// each iteration of the node.
struct SyncPoint {
  Id parent = kNone;  // a loop or block outside of the loops whose threads wait
  Id before = kNone;  // a child of `parent`
  // Which threads wait for each other: those of a warp (kWarp), of a warpgroup, or of a block. kThread: no thread waits
  // for others, only for its own asynchronous copies.
  Owner among = Owner::kBlock;
  // The innermost thread-axis loop around the point: only threads in the same iteration of this loop wait for each
  // other. kNone: all threads of the group wait.
  Id within = kNone;
  // How many groups of asynchronous copies may still be under way after the point; each iteration of a pipelined loop
  // commits one group. Each thread waits for its own older groups before it waits for others. -1: it waits for no
  // copies.
  int32_t wait_groups = -1;
};

// A buffer that one child of a pipelined loop writes and others read, through a ring of `depth` copies.
struct RingPlan {
  Id loop = kNone, buffer = kNone;
  int32_t depth = 1;
  Transport transport = Transport::kSync;  // how copies travel: as the program says, or by stores
  // True if barriers that count arrivals (of bytes, for bulk copies) hand over the copies of the ring, instead of
  // points: for each copy, one barrier says that it is full and another that it is empty.
  bool counts_arrivals = false;
};

// Assigns a buffer in shared memory to a place. Buffers with the same place number use the same memory one after the
// other.
struct SharedPlace {
  Id buffer = kNone;
  int32_t place = 0;
};

struct SyncPlan {
  std::vector<SyncPoint> points;  // at most one before a child
  std::vector<RingPlan> rings;
  std::vector<SharedPlace> places;  // other buffers share memory with none
};

}  // namespace kiln
