// Where the threads of a kernel wait for each other, as plain data. lang/threads/synchronization.h derives
// the points from a program; lowering, limits and checks read them.
#pragma once

#include <vector>

#include "lang/program/program.h"

namespace kiln {

// All threads of a group wait for each other before a child of a node runs, in each iteration of the node.
struct SyncPoint {
  Id parent = kNone;  // a loop or block outside of the loops whose threads wait
  Id before = kNone;  // a child of `parent`
  // Who waits: the threads of a warp (kWarp), of a warpgroup, or of a block. kThread: each thread only waits
  // for its own copies.
  Owner among = Owner::kBlock;
  // The innermost thread-axis loop around the point: only threads of one of its iterations wait. kNone: all.
  Id within = kNone;
  // Copies of asynchronous rings are committed in groups, one group an iteration. Before the threads wait for
  // each other, each waits until at most this many of its groups are under way. -1: it waits for no group.
  int32_t wait_groups = -1;
};

// A buffer that children of a pipelined loop pass on through copies.
struct RingPlan {
  Id loop = kNone, buffer = kNone;
  int32_t depth = 1;
  Transport transport = Transport::kSync;  // how copies travel: as the program says, or by stores
  // The copies are handed over by barriers that count arrivals (of bytes, for bulk copies), not by points:
  // one barrier a copy says that it is full, another one that it is empty.
  bool counts_arrivals = false;
};

// A buffer in shared memory that lies in one place with others of the same number, one after the other.
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
