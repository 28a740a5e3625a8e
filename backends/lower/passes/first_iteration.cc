#include "backends/lower/passes/first_iteration.h"

#include <utility>

#include "absl/algorithm/container.h"

namespace kiln::plan {

// Loops of one iteration need no test, because they are always at 0.
void FirstIteration(Nodes& nodes) {
  for (Node& node : nodes) {
    for (Nodes& arm : node.arms) FirstIteration(arm);
    const Loop* loop = node.As<Loop>();
    if (loop == nullptr || node.arms[0].size() != 1) continue;
    const First* first = node.arms[0][0].As<First>();
    const bool runs = loop->count * loop->steps > 1 || loop->first > 0;
    if (first == nullptr || (runs && absl::c_linear_search(first->loops, loop->loop))) continue;
    Node moved{*first, {}};
    for (Nodes& arm : node.arms[0][0].arms) moved.arms.push_back({Node{*loop, {std::move(arm)}}});
    node = std::move(moved);
  }
}

}  // namespace kiln::plan
