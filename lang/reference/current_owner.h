// Tracks which thread, warp, warpgroup or block runs now while a program is executed (lang/reference/executor.h), from
// the iterations of the axis loops around. Symbolic execution (lang/reference/symbolic.h) uses it.
#pragma once

#include <array>
#include <map>

#include "lang/analysis/legality.h"
#include "lang/program/program.h"

namespace kiln {

class CurrentOwner {
 public:
  explicit CurrentOwner(const Program& program);

  // True if the program has axes and its buffers obey the rules of owners (lang/analysis/legality.h).
  bool watches() const { return !threads_.empty(); }
  // True if the tracker watches() the program, and the buffer's owner is smaller than the grid.
  bool Owned(Id buffer) const {
    return !threads_.empty() && program_.buffers[buffer].scope.owner != Owner::kGrid;
  }
  // Returns a hash of the thread, warp, warpgroup or block that owns the buffer's memory in the current iterations. A
  // cluster counts as its block. Different owners have different hashes.
  uint64_t Now(Id buffer) const;

  void Iterate(Id loop, int64_t iteration);
  void EndLoop(Id loop);

 private:
  struct Axis {
    Id loop = kNone;
    int64_t iteration = 0;
  };
  Axis On(LoopKind kind) const { return axes_[static_cast<int>(kind)]; }

  const Program& program_;
  std::array<Axis, static_cast<int>(LoopKind::kVirtualThread) + 1>
      axes_;                       // by kind: the loop that is on the axis now
  std::map<Id, Threads> threads_;  // by kernel
};

}  // namespace kiln
