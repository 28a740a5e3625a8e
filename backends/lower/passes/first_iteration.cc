#include "backends/lower/passes/first_iteration.h"

#include <utility>

namespace kiln::plan {

// A loop that a start asks about contains other blocks too (decompose_reductions.h). So a loop that contains nothing but
// the test is not one of them.
void FirstIteration(Nodes& nodes) {
  for (Node& node : nodes) {
    for (Nodes& arm : node.arms) FirstIteration(arm);
    const Loop* loop = node.As<Loop>();
    if (loop == nullptr || node.arms[0].size() != 1) continue;
    const First* first = node.arms[0][0].As<First>();
    if (first == nullptr) continue;
    Node moved{*first, {}};
    for (Nodes& arm : node.arms[0][0].arms) moved.arms.push_back({Node{*loop, {std::move(arm)}}});
    node = std::move(moved);
  }
}

}  // namespace kiln::plan
