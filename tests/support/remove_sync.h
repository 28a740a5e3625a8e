// Removes a sync (a point where threads wait for each other) from a loop plan, to test that it is needed.
#pragma once

#include "backends/lower/plan/loop_plan.h"

namespace kiln {

// Removes the sync with this number from the nodes, counted in their order from 0, and returns true. Returns false if
// there are fewer syncs, and then lowers `number` by their count.
inline bool RemoveSync(plan::Nodes& nodes, int& number) {
  for (size_t n = 0; n < nodes.size(); ++n) {
    if (nodes[n].As<plan::Sync>() != nullptr && number-- == 0) {
      nodes.erase(nodes.begin() + n);
      return true;
    }
    for (plan::Nodes& arm : nodes[n].arms)
      if (RemoveSync(arm, number)) return true;
  }
  return false;
}

}  // namespace kiln
