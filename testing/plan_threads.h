// Simulates the threads of a GPU that runs a loop plan (plan_interpreter.h). Finds races, and syncs that only some
// threads reach.
//
//   PlanBlock block(64);
//   for (const PlanSyncs& phase : block.phases())           // the code between two syncs
//     for each thread: run the code of this phase, and call block.Meet(sync, thread) at each sync
//     block.EndPhase();
//
// Blocks run one after the other. So do the threads of a block within a phase. Their order does not matter unless there
// is a race, and PlanUses finds races in any order. Errors: PlanFault.
#pragma once

#include <array>
#include <cstdint>
#include <set>
#include <vector>

#include "backends/lower/plan/loop_plan.h"

namespace kiln {

// The numbers of syncs that a thread has passed: first those of blocks, then those of blocks or warpgroups, then those
// of blocks, warpgroups or warps. Later phases of a thread compare greater.
using PlanSyncs = std::array<int64_t, 3>;

// A simulated thread of a kernel, or the only thread of other code: its numbers, and the syncs that it has passed.
struct PlanThread {
  int64_t block = 0, number = 0;  // number of the block in the grid, and of the thread in the block
  int64_t iteration = 0;          // a number for each iteration of a parallel loop; 0: outside of such loops
  bool in_kernel = false;
  PlanSyncs syncs = {};
  int64_t groups = 0;  // groups of asynchronous stores that the thread has committed

  // Returns the number of the thread, or of the warp, warpgroup or block to which the thread belongs. It is unique in
  // the grid. An owner larger than a block has the number 0.
  int64_t NumberOf(Owner owner) const;
};

// The number of a thread on each axis, in the order thread-x, thread-y, thread-z, block-x, block-y, block-z.
using PlanPlace = std::array<int64_t, 6>;
// Returns the index of an axis in a PlanPlace.
size_t PlanAxis(LoopKind axis);

// The size of the grid of threads and blocks that runs a top-level node of a plan. A node that is no kernel has one
// thread.
class PlanGrid {
 public:
  explicit PlanGrid(const plan::Node& node);
  bool is_kernel() const { return is_kernel_; }
  int64_t threads() const { return sizes_[0] * sizes_[1] * sizes_[2]; }  // of a block
  int64_t blocks() const { return sizes_[3] * sizes_[4] * sizes_[5]; }
  PlanPlace PlaceOf(const PlanThread& thread) const;  // the thread's number on each axis
  int64_t Distance(LoopKind axis) const;  // between the numbers of threads that are neighbors on the axis

 private:
  void Read(const plan::Node& node);

  bool is_kernel_ = false;
  PlanPlace sizes_ = {1, 1, 1, 1, 1, 1};
};

// The phases of the threads of a GPU block: the code between two syncs. Checks that all threads that a sync is for
// reach it.
class PlanBlock {
 public:
  explicit PlanBlock(int64_t threads);
  // Returns the phases in order. Meet adds phases, so all are known when each thread has walked the code once. If there
  // are several threads, no code runs in the first phase: errors of syncs are found before the code runs.
  const std::set<PlanSyncs>& phases() const { return phases_; }
  // Notes that the thread reaches a sync: updates its numbers of syncs, and adds the phase after the sync. Does nothing
  // for a sync of a single thread. Throws if the sync is of more than a block.
  void Meet(const plan::Sync& sync, PlanThread& thread);
  // Call this after all threads have walked the code for a phase. Throws if some threads of a warp, warpgroup or block
  // have reached a sync and others have not.
  void EndPhase();

 private:
  int64_t threads_;
  std::set<PlanSyncs> phases_ = {{}};
  // A sync of one warp, warpgroup or block, and the number of its threads that have reached it.
  struct Meeting {
    const plan::Sync* sync;
    int64_t owner;
    PlanSyncs syncs;  // the syncs of the threads after this one
    int64_t threads = 0;
  };
  std::vector<Meeting> meetings_;
};

// How a thread uses an element of memory: reads it, stores to it, or combines a value with it in a reduction.
enum class PlanUse {
  kRead,
  kWrite,
  kCombine,  // a reduction adds to it. The threads of a block may do so in any order
};

// The uses of one element of memory by the threads of a kernel. Finds races between them.
class PlanUses {
 public:
  // Adds a use. Returns false if it races with a use by another thread: no sync is between the two, and they are not
  // both reads, nor both combinations in one block.
  [[nodiscard]] bool Add(const PlanThread& by, PlanUse use);

 private:
  struct Past {
    PlanThread by;
    PlanUse use;
  };
  std::vector<Past> past_;
};

}  // namespace kiln
