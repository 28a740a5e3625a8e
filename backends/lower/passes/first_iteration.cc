#include "backends/lower/passes/first_iteration.h"

#include <utility>

namespace kiln::plan {

// Moves each test for the first iteration of a reduction out of the loops that contain only this test, and copies these
// loops into both arms. That is legal: the test compares no variable of such a loop, because each loop whose variable
// it compares also contains other blocks (decompose_reductions.h).
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
