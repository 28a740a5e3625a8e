#include "backends/lower/kernels/insert_syncs.h"

#include <algorithm>
#include <map>
#include <utility>

#include "lang/analysis/legality.h"

namespace kiln::plan {
namespace {

// Returns the loop or block of the program that a node of a loop plan is for. For the test of a first iteration,
// returns that of its first arm. Returns kNone for other nodes, and for a node of the loop `around` itself: a copy of
// one of its iterations inside its body.
Id ProgramNode(const Node& node, Id around) {
  if (const Loop* loop = node.As<Loop>()) return loop->loop == around ? kNone : loop->loop;
  if (const Leaf* leaf = node.As<Leaf>()) return leaf->block;
  if (const Call* call = node.As<Call>()) return call->outer;
  return node.As<First>() != nullptr ? ProgramNode(node.arms[0][0], around) : kNone;
}

bool HasSync(const Node& node) {
  if (node.As<Sync>() != nullptr) return true;
  return std::any_of(node.arms.begin(), node.arms.end(),
                     [](const Nodes& arm) { return std::any_of(arm.begin(), arm.end(), HasSync); });
}

using Syncs = std::map<Id, Sync>;  // by the loop or block that they come before

void Insert(const Syncs& syncs, Id around, Nodes& nodes) {
  Nodes with;
  for (Node& node : nodes) {
    const auto sync = syncs.find(ProgramNode(node, around));
    if (sync != syncs.end()) with.push_back({sync->second, {}});
    const Loop* loop = node.As<Loop>();
    if (node.As<First>() == nullptr)
      for (Nodes& arm : node.arms) Insert(syncs, loop == nullptr ? around : loop->loop, arm);
    with.push_back(std::move(node));
  }
  nodes = std::move(with);
}

bool IsOnThreads(const Loop* loop) {
  return loop != nullptr && loop->run == Run::kAxis && IsThreadAxis(loop->axis);
}

using Sizes = std::map<LoopKind, int64_t>;  // of thread axes

void ReadSizes(const Node& node, Sizes& sizes) {
  if (const Loop* loop = node.As<Loop>(); IsOnThreads(loop))
    sizes[loop->axis] = std::max(sizes[loop->axis], loop->first + loop->count);
  for (const Nodes& arm : node.arms)
    for (const Node& child : arm) ReadSizes(child, sizes);
}

bool AllReachSyncs(const Node& node, const Sizes& sizes) {
  if (const Loop* loop = node.As<Loop>();
      IsOnThreads(loop) && loop->count < sizes.at(loop->axis) && HasSync(node))
    return false;
  return std::all_of(node.arms.begin(), node.arms.end(), [&](const Nodes& arm) {
    return std::all_of(arm.begin(), arm.end(),
                       [&](const Node& child) { return AllReachSyncs(child, sizes); });
  });
}

}  // namespace

void InsertSyncs(const SyncPlan& points, Nodes& nodes) {
  Syncs syncs;
  for (const SyncPoint& point : points.points) syncs[point.before] = {point.among, point.wait_groups};
  Insert(syncs, kNone, nodes);
}

absl::Status CheckSyncs(const Node& kernel) {
  Sizes sizes;
  ReadSizes(kernel, sizes);
  if (AllReachSyncs(kernel, sizes)) return absl::OkStatus();
  return absl::FailedPreconditionError(
      "plans for GPUs do not have a sync inside a loop that only some threads of the block run yet");
}

}  // namespace kiln::plan
