// The threads of a GPU that run a plan (plan_interpreter.h). They find races and syncs that only some threads reach.
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

// The number of syncs that a thread has passed: of its block, of its warpgroup or block, of its warp or any of the two.
// Later phases of a thread compare greater.
using PlanSyncs = std::array<int64_t, 3>;

// A thread of a kernel, or the only thread of other code.
struct PlanThread {
  int64_t block = 0, number = 0;  // in the grid; in the block
  int64_t iteration = 0;          // a number for each iteration of a parallel loop; 0: outside of such loops
  bool in_kernel = false;
  PlanSyncs syncs = {};
  int64_t groups = 0;  // of asynchronous stores that it has committed

  // Returns the number of the warp, warpgroup or block that the thread belongs to. It is unique in the grid.
  int64_t NumberOf(Owner owner) const;
};

// A number for each axis, in the order thread-x, thread-y, thread-z, block-x, block-y, block-z.
using PlanPlace = std::array<int64_t, 6>;
// Returns the position of an axis in that order.
size_t PlanAxis(LoopKind axis);

// The size of the grid that a child of an entry runs on.
class PlanGrid {
 public:
  explicit PlanGrid(const plan::Node& node);
  bool is_kernel() const { return is_kernel_; }
  int64_t threads() const { return sizes_[0] * sizes_[1] * sizes_[2]; }  // of a block
  int64_t blocks() const { return sizes_[3] * sizes_[4] * sizes_[5]; }
  PlanPlace PlaceOf(const PlanThread& thread) const;  // the thread's number on each axis
  int64_t Distance(LoopKind axis) const;  // of the numbers of threads that are neighbors on the axis

 private:
  void Read(const plan::Node& node);

  bool is_kernel_ = false;
  PlanPlace sizes_ = {1, 1, 1, 1, 1, 1};
};

// The phases of a block's threads.
class PlanBlock {
 public:
  explicit PlanBlock(int64_t threads);
  // The phases in order. Meet adds to them, so all are known when each thread has walked the code once. If there are
  // several threads, the first phase has no code: errors of syncs are found before the code runs.
  const std::set<PlanSyncs>& phases() const { return phases_; }
  // Notes that the thread reaches a sync: updates its number of syncs, and adds the phase after the sync. Throws if the
  // sync is of more than a block.
  void Meet(const plan::Sync& sync, PlanThread& thread);
  // Call this after each thread has walked the code. Throws if a sync was reached by some threads of its owner only.
  void EndPhase();

 private:
  int64_t threads_;
  std::set<PlanSyncs> phases_ = {{}};
  // A sync of one warp, warpgroup or block, and the number of its threads that have reached it.
  struct Meeting {
    const plan::Sync* sync;
    int64_t owner;
    PlanSyncs syncs;  // of the threads after it
    int64_t threads = 0;
  };
  std::vector<Meeting> meetings_;
};

// How a thread uses an element.
enum class PlanUse {
  kRead,
  kWrite,
  kCombine,  // a reduction adds to it. The threads of a block may do so in any order
};

// The uses of an element in a kernel.
class PlanUses {
 public:
  // Adds a use. Returns false if it races with one of another thread: no sync is between them, and they do not both
  // read or both combine.
  [[nodiscard]] bool Add(const PlanThread& by, PlanUse use);

 private:
  struct Past {
    PlanThread by;
    PlanUse use;
  };
  std::vector<Past> past_;
};

}  // namespace kiln
