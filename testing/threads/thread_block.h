// The vector clocks of the threads of one GPU block (thread_clocks.h).
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include "lang/program/program.h"

namespace kiln {

using VectorClock = std::vector<int32_t>;  // by agent: how much of its work has happened before

inline void Join(VectorClock& clock, const VectorClock& other) {
  for (size_t i = 0; i < clock.size(); ++i) clock[i] = std::max(clock[i], other[i]);
}

using BlockIndex = std::array<int64_t, 3>;  // on block-x, block-y and block-z

// A thread block. Its agents, by number: the threads, then the asynchronous copies of each, then the producer.
struct ThreadBlock {
  explicit ThreadBlock(int64_t threads)
      : clocks(2 * threads + 1, VectorClock(2 * threads + 1, 0)), groups(threads) {
    for (size_t a = 0; a < clocks.size(); ++a) clocks[a][a] = 1;
  }

  // Models a wait of the thread until at most `under_way` of its groups of asynchronous copies are not done: it has
  // then seen what the other groups did.
  void WaitForCopies(int64_t thread, int64_t under_way) {
    const int64_t done = static_cast<int64_t>(groups[thread].size()) - under_way;
    if (done > 0) Join(clocks[thread], groups[thread][done - 1]);
  }

  // Models a barrier of these threads: each has then seen what all of them did before.
  void Meet(const std::vector<int64_t>& threads) {
    VectorClock all = clocks[threads[0]];
    for (const int64_t thread : threads) Join(all, clocks[thread]);
    for (const int64_t thread : threads) {
      clocks[thread] = all;
      ++clocks[thread][thread];
    }
  }

  std::vector<VectorClock> clocks;
  std::vector<std::vector<VectorClock>> groups;               // by thread: its committed groups of copies
  std::map<std::pair<Id, int64_t>, VectorClock> full, empty;  // by ring and copy
};

}  // namespace kiln
