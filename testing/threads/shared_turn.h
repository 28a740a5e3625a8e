// Checks that buffers which have the same place in the shared memory of a GPU block use it one after another
// (thread_clocks.h). An agent is a thread, the copies of a thread, or the producer.
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
  // or if the use may run at the same time as a use of an earlier buffer. `seen` is the agent's vector clock: for each
  // agent, how much of its work has happened before.
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
  Id buffer_ = kNone;       // the buffer that has the place
  std::set<Id> before_;     // buffers that had the place
  VectorClock used_, now_;  // the clock of each agent's last use: of earlier buffers; of this one
};

}  // namespace kiln
