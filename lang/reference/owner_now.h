// Who runs now, while a program is walked (lang/reference/walk.h): which thread, warp, warpgroup or block, by the loops
// on axes that are open. A part of lang/reference/shadow.h, of no use elsewhere.
#pragma once

#include <array>
#include <map>
#include <utility>

#include "lang/program/program.h"

namespace kiln {

class OwnerNow {
 public:
  explicit OwnerNow(const Program& program);

  // True in a program that has axes, and whose buffers are kept by their owners (analysis/restrictions.h).
  bool watches() const { return !threads_.empty(); }
  // True if, in such a program, the buffer belongs to less than the grid.
  bool Owned(Id buffer) const {
    return !threads_.empty() && program_.buffers[buffer].scope.owner != Owner::kGrid;
  }
  // A number of the owner of the buffer that runs now; others have others.
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
      axes_;                                           // by kind, where a loop is on it now
  std::map<Id, std::pair<int64_t, int64_t>> threads_;  // by kernel: its most threads in x and y
};

}  // namespace kiln
