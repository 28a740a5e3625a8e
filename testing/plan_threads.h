// The threads that run a plan (plan_interpreter.h), and what their syncs put in order.
//
// A node of an entry in which loops run on axes is a kernel. Its blocks run one after another. What a thread runs between
// two syncs is a phase; the threads of a block run a phase one after another, and then the next phase.
#pragma once

#include <array>
#include <cstdint>
#include <set>
#include <vector>

#include "backends/lower/plan/loop_plan.h"

namespace kiln {

// How often a thread has met its block, its warpgroup and its warp; a sync of a block is one of its warps too.
// The order is that of phases.
using PlanSyncs = std::array<int64_t, 3>;

// Outside of kernels there is one thread.
struct PlanThread {
  int64_t block = 0, number = 0;  // in the grid; in the block
  int64_t iteration = 0;          // of parallel loops, counted through; 0: outside of them
  bool in_kernel = false;
  PlanSyncs syncs = {};

  // Two threads of a kernel have the same owner (a warp, say) if its numbers are equal.
  int64_t NumberOf(Owner owner) const;
};

using PlanPlace = std::array<int64_t, 6>;  // by axis: thread-x, -y, -z, block-x, -y, -z
size_t PlanAxis(LoopKind axis);

// The size of a kernel: of each axis as many threads as its largest loop has iterations.
class PlanGrid {
 public:
  explicit PlanGrid(const plan::Node& node);
  bool is_kernel() const { return is_kernel_; }
  int64_t threads() const { return sizes_[0] * sizes_[1] * sizes_[2]; }  // of a block
  int64_t blocks() const { return sizes_[3] * sizes_[4] * sizes_[5]; }
  PlanPlace PlaceOf(const PlanThread& thread) const;

 private:
  void Read(const plan::Node& node);

  bool is_kernel_ = false;
  PlanPlace sizes_ = {1, 1, 1, 1, 1, 1};
};

// The threads of a block meet at syncs.
class PlanBlock {
 public:
  explicit PlanBlock(int64_t threads);
  // In order, and found by the threads that walk through the first: in it nothing runs, if there are several threads.
  const std::set<PlanSyncs>& phases() const { return phases_; }
  void Meet(const plan::Sync& sync, PlanThread& thread);
  // Call this when each thread has walked through the phase. Fails if some threads of an owner have not reached a sync
  // that others have.
  void EndPhase();

 private:
  int64_t threads_;
  std::set<PlanSyncs> phases_ = {{}};
  // The threads of an owner that reach a sync after as many others.
  struct Meeting {
    const plan::Sync* sync;
    int64_t owner;
    PlanSyncs syncs;
    int64_t threads = 0;
  };
  std::vector<Meeting> meetings_;
};

enum class PlanUse {
  kRead,
  kWrite,
  kCombine,  // a reduction's: those of a block's threads are in any order
};

// The accesses to an element in a kernel.
class PlanUses {
 public:
  // False if this is a race: a thread has used the element in another way, and no sync has put the two in order.
  [[nodiscard]] bool Add(const PlanThread& by, PlanUse use);

 private:
  struct Past {
    PlanThread by;
    PlanUse use;
  };
  std::vector<Past> past_;
};

}  // namespace kiln
