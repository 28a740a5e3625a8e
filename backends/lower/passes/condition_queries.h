// Answers questions of the guards pass about the conditions of blocks at a place of a plan. plan_context.h defines the
// bound part and the rest of a condition.
#pragma once

#include <vector>

#include "backends/lower/plan/plan_context.h"

namespace kiln {

class ConditionQueries {
 public:
  // Keeps a reference to the context. The answers follow it as it changes.
  explicit ConditionQueries(const PlanContext& context)
      : context_(context), p_(context.program()), plan_(context.plan()) {}

  // Returns the conditions of these blocks that the code around has not decided, ascending.
  std::vector<int> Open(const std::vector<Id>& blocks) const;
  // True if the condition is a guard of all blocks.
  bool GuardsAll(int condition, const std::vector<Id>& blocks) const;
  // True if the condition only skips zero terms of sums, in one of the blocks.
  bool Drops(int condition, const std::vector<Id>& blocks) const;
  // True if the condition has the same answer for all of its rest, for every value of its bound part.
  bool HoldsAlike(int condition) const;
  // True if the condition holds for its whole rest for less than half of the values of its bound part. A version of the
  // code for these values would rarely run, and unrolled iterations can each decide the condition for their own part.
  bool SeldomHolds(int condition) const;

  // True if the condition guards all blocks, and a smaller upper bound of the loop decides it for everything below.
  bool TrimsExactly(int condition, Id loop, const std::vector<Id>& blocks) const;
  // True if an inner loop should choose the code for complete tiles instead: it has conditions of its own and
  // contains all blocks that use the conditions `candidates`.
  bool IsBetterInside(Id loop, const std::vector<int>& candidates) const;

 private:
  bool HoldsAlike(const IndexSum& bound, const Interval& rest, int64_t extent) const;

  const PlanContext& context_;
  const Program& p_;
  const IndexPlan& plan_;
};

}  // namespace kiln
