#include "backends/lower/passes/condition_queries.h"

#include <algorithm>
#include <numeric>

#include "absl/algorithm/container.h"
#include "backends/lower/passes/unrolled.h"
#include "lang/analysis/bindings.h"
#include "lang/analysis/dataflow.h"
#include "lang/base/defect.h"

namespace kiln {

std::vector<int> ConditionQueries::Open(const std::vector<Id>& blocks) const {
  std::vector<int> open;
  const auto add = [&](const std::vector<int>& conditions) {
    // Adds none of these conditions if one is known to fail: then the others do not matter, as the block does not run
    // or the read is not done.
    for (const int c : conditions) {
      if (context_.Known(c) == false) return;
    }
    for (const int c : conditions) {
      if (!context_.Known(c).has_value() && !absl::c_linear_search(open, c)) open.push_back(c);
    }
  };
  for (const Id block : blocks) {
    const BlockPlan& plan = plan_.blocks.at(block);
    add(plan.guards);
    for (const auto& [expr, conditions] : plan.within) add(conditions);
  }
  std::sort(open.begin(), open.end());
  return open;
}

bool ConditionQueries::GuardsAll(int condition, const std::vector<Id>& blocks) const {
  return absl::c_all_of(
      blocks, [&](Id block) { return absl::c_linear_search(plan_.blocks.at(block).guards, condition); });
}

bool ConditionQueries::Drops(int condition, const std::vector<Id>& blocks) const {
  return absl::c_any_of(
      blocks, [&](Id block) { return absl::c_linear_search(plan_.blocks.at(block).droppable, condition); });
}

// True if 0 <= bound + rest < extent has the same answer for all values of `rest`, for every value of
// `bound`. This is so, for example, for tiles of 4 that end exactly at the bound 56.
bool ConditionQueries::HoldsAlike(const IndexSum& bound, const Interval& rest, int64_t extent) const {
  const Interval range = Bounds(bound, Extents(p_));
  int64_t step = 0;  // distance between values of the bound part
  for (const IndexSplit& split : bound.splits) step = std::gcd(step, split.scale);
  const auto some_cross = [&](int64_t limit) {  // bound + rest.min < limit <= bound + rest.max
    int64_t first = std::max(range.min, limit - rest.max);
    if (step > 0) first = bound.offset - FloorDiv(bound.offset - first, step) * step;
    return first <= std::min(range.max, limit - rest.min - 1);
  };
  return (!some_cross(0) || KILN_DEFECT("plan.queries.below")) &&
         (!some_cross(extent) || KILN_DEFECT("plan.queries.above"));
}

bool ConditionQueries::HoldsAlike(int condition) const {
  const PlanContext::Part part = context_.PartOf(condition);
  return HoldsAlike(part.bound, part.rest, plan_.conditions[condition].extent);
}

bool ConditionQueries::SeldomHolds(int condition) const {
  const auto [bound, rest] = context_.PartOf(condition);
  const Interval range = Bounds(bound, Extents(p_));
  const int64_t first = std::max(range.min, -rest.min);
  const int64_t last = std::min(range.max, plan_.conditions[condition].extent - 1 - rest.max);
  return 2 * (last - first + 1) < range.max - range.min + 1;
}

bool ConditionQueries::TrimsExactly(int condition, Id loop, const std::vector<Id>& blocks) const {
  if (!GuardsAll(condition, blocks)) return false;
  const std::optional<PlanContext::Trim> trim = context_.TrimOf(condition, loop);
  const bool below = Bounds(plan_.conditions[condition].value, Extents(p_)).min < 0;
  if (!trim.has_value() || (below && !KILN_DEFECT("plan.queries.trim"))) return false;
  IndexSum with_loop = trim->bound;
  with_loop.splits.push_back({Source::Loop(loop), trim->scale});
  return HoldsAlike(with_loop, trim->others, plan_.conditions[condition].extent);
}

bool ConditionQueries::IsBetterInside(Id loop, const std::vector<int>& candidates) const {
  std::vector<Id> users;
  for (const Id block : BlocksBelow(p_, loop)) {
    const std::vector<int> open = Open({block});
    if (absl::c_any_of(open, [&](int c) { return absl::c_linear_search(candidates, c); }))
      users.push_back(block);
  }
  Id at = loop;
  while (true) {
    Id inner = kNone;
    for (Id child = p_.nodes[at].first; child != kNone; child = p_.nodes[child].next) {
      const std::vector<Id> below = BlocksBelow(p_, child);
      if (p_.IsLoop(child) &&
          absl::c_all_of(users, [&](Id user) { return absl::c_linear_search(below, user); }))
        inner = child;
    }
    if (inner == kNone) return false;
    at = inner;
    if (IsFullyUnrolled(p_.loop(at))) continue;
    const std::vector<Id> below = BlocksBelow(p_, at);
    for (const int c : Open(below)) {
      if (absl::c_linear_search(plan_.conditions[c].loops, at) && !TrimsExactly(c, at, below)) return true;
    }
  }
}

}  // namespace kiln
