// The place in the shared memory of a block that several buffers have in turn, as vector clocks see it
// (thread_clocks.h).
//
//   SharedTurn turn;
//   if (!turn.Take(buffer, agent, clocks[agent])) ...     // before each access
//
// Take returns false if an agent may still use a buffer that had the place before, or if the buffer had it before
// another one.
#pragma once

#include <algorithm>
#include <cstdint>
#include <set>

#include "testing/threads/thread_block.h"

namespace kiln {

class SharedTurn {
 public:
  // Notes that an agent uses the place for the buffer. Returns false if the buffer had lost the place to another one,
  // or if a use for an earlier buffer may come after this. `seen` is the agent's clock: by agent, what of it has
  // happened before.
  bool Take(Id buffer, int64_t agent, const VectorClock& seen) {
    used_.resize(seen.size());
    now_.resize(seen.size());
    if (buffer != buffer_) {
      before_.insert(buffer_);
      buffer_ = buffer;
      Join(used_, now_);
    }
    now_[agent] = std::max(now_[agent], seen[agent]);
    bool ordered = !before_.contains(buffer);
    for (size_t a = 0; a < seen.size(); ++a) ordered = ordered && seen[a] >= used_[a];
    return ordered;
  }

 private:
  Id buffer_ = kNone;       // that has the place
  std::set<Id> before_;     // that had it
  VectorClock used_, now_;  // when each agent last used those, and this one
};

}  // namespace kiln
