#include "validator/proof/passed_points.h"

#include <algorithm>
#include <limits>

#include "lang/analysis/dataflow.h"
#include "lang/analysis/legality.h"

namespace kiln::proof {
namespace {

constexpr int32_t kNoOrder = -1, kAnyOrder = std::numeric_limits<int32_t>::max();
constexpr int64_t kMostSteps = 32;  // more steps pass the same points

}  // namespace

Id PassedPoints::ChildTowards(Id node, Id below) const {
  while (p_.nodes[below].parent != node) below = p_.nodes[below].parent;
  return below;
}

bool PassedPoints::IsPipelined(Id node) const {
  return p_.IsLoop(node) && p_.loop(node).kind == LoopKind::kPipelined;
}

PipelineStage PassedPoints::StageOf(Id loop, Id child) const {
  size_t position = 0;
  for (Id at = p_.nodes[loop].first; at != child; at = p_.nodes[at].next) ++position;
  return p_.Stages(p_.loop(loop))[position];
}

// Returns the position, within a step of a pipelined loop, of the last child that copies asynchronously. The step's
// group of copies is committed after this child. Returns kNoOrder if no child copies so. Copies into rings that count
// arrivals do not count.
int32_t PassedPoints::LastCopy(Id loop) const {
  int32_t last = kNoOrder;
  for (Id child = p_.nodes[loop].first; child != kNone; child = p_.nodes[child].next) {
    for (const RingPlan& ring : plan_.rings) {
      if (ring.loop != loop || ring.transport != Transport::kAsync || ring.counts_arrivals) continue;
      for (const Id block : BlocksOf(p_, child))
        if (Writes(p_, block, ring.buffer)) last = std::max(last, StageOf(loop, child).order);
    }
  }
  return last;
}

bool PassedPoints::Meets(const Search& search, const SyncPoint& point) const {
  for (Id at = point.parent; at != kRoot && at != kNone; at = p_.nodes[at].parent) {
    if (!p_.IsLoop(at) || !OnAxis(p_, at)) continue;
    if (!IsAncestor(p_, at, search.from) || !IsAncestor(p_, at, search.to)) return false;
  }
  return true;
}

void PassedPoints::AddPoint(Search& search, Id before, bool copied) const {
  for (const SyncPoint& point : plan_.points)
    if (point.before == before && Meets(search, point)) search.found.push_back({&point, copied});
}

// Adds the points before a node and below it, which threads pass if they run the whole node. In a pipelined loop, adds
// only those directly before its children.
void PassedPoints::AddNode(Search& search, Id node) const {
  AddPoint(search, node);
  for (Id child = p_.nodes[node].first; child != kNone; child = p_.nodes[child].next)
    IsPipelined(node) ? AddPoint(search, child) : AddNode(search, child);
}

// Adds the points before the children of a pipelined loop that threads pass between two steps: in the first step, those
// after position `after`; in the step that is `steps` later, those up to position `until`; in the steps between, all.
void PassedPoints::AddSteps(Search& search, Id loop, int32_t after, int64_t steps, int32_t until) const {
  std::vector<Id> children;
  for (Id child = p_.nodes[loop].first; child != kNone; child = p_.nodes[child].next)
    children.push_back(child);
  std::sort(children.begin(), children.end(),
            [&](Id a, Id b) { return StageOf(loop, a).order < StageOf(loop, b).order; });
  const int32_t last_copy = search.copies_in == loop ? LastCopy(loop) : kNoOrder;
  for (int64_t step = 0; step <= std::min(steps, kMostSteps); ++step) {
    for (const Id child : children) {
      const int32_t order = StageOf(loop, child).order;
      if ((step == 0 && order <= after) || (step == steps && order > until)) continue;
      // Counts the groups of copies that are committed since the step of the copy, its own included. A point that waits
      // until fewer groups are under way waits for the copy.
      const int64_t groups = step + (order > last_copy ? 1 : 0);
      for (const SyncPoint& point : plan_.points) {
        if (point.before != child || !Meets(search, point)) continue;
        const bool copied = search.copies_in == loop && point.wait_groups >= 0 && point.wait_groups < groups;
        search.found.push_back({&point, copied});
      }
    }
  }
}

// Adds the points that threads pass after `from` until the end of the child of `top` that contains it.
void PassedPoints::AddAfter(Search& search, Id top) const {
  for (Id at = search.from; p_.nodes[at].parent != top; at = p_.nodes[at].parent) {
    const Id parent = p_.nodes[at].parent;
    if (IsPipelined(parent)) {
      int32_t last = 0;
      for (const PipelineStage& stage : p_.Stages(p_.loop(parent))) last = std::max(last, stage.stage);
      const PipelineStage stage = StageOf(parent, at);
      AddSteps(search, parent, stage.order, last - stage.stage, kAnyOrder);
      continue;
    }
    for (Id sibling = p_.nodes[at].next; sibling != kNone; sibling = p_.nodes[sibling].next)
      AddNode(search, sibling);
  }
}

// Adds the points that threads pass from the beginning of the child of `top` that contains `to` until they reach `to`.
void PassedPoints::AddBefore(Search& search, Id top) const {
  for (Id parent = ChildTowards(top, search.to); parent != search.to;
       parent = ChildTowards(parent, search.to)) {
    const Id child = ChildTowards(parent, search.to);
    if (IsPipelined(parent)) {
      AddSteps(search, parent, kNoOrder, 0, StageOf(parent, child).order);
      continue;
    }
    for (Id sibling = p_.nodes[parent].first; sibling != child; sibling = p_.nodes[sibling].next)
      AddNode(search, sibling);
    AddPoint(search, child);
  }
}

std::vector<Passing> PassedPoints::Between(Id from, Id to, const Follows& follows, Id copies_in) const {
  Search search{from, to, copies_in};
  const Id top = follows.loop != kNone ? follows.loop : LowestCommonAncestor(p_, {from, to});
  const Id first = ChildTowards(top, from), last = ChildTowards(top, to);
  AddAfter(search, top);
  if (IsPipelined(top)) {
    AddSteps(search, top, StageOf(top, first).order, follows.steps, StageOf(top, last).order);
  } else {
    const Id end = follows.loop == kNone ? last : kNone;
    for (Id at = p_.nodes[first].next; at != end; at = p_.nodes[at].next) AddNode(search, at);
    if (follows.loop != kNone)
      for (Id at = p_.nodes[top].first; at != last; at = p_.nodes[at].next) AddNode(search, at);
    AddPoint(search, last);
  }
  AddBefore(search, top);
  return search.found;
}

}  // namespace kiln::proof
