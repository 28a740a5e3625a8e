// Takes a sync out of the nodes of a loop plan, to test that it is needed.
#pragma once

#include "backends/lower/plan/loop_plan.h"

namespace kiln {

// Removes the sync with this number, and returns false if there are fewer. `number` falls by the syncs that are passed.
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
