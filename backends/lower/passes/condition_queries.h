// Queries of the guards pass at a place of a plan: which conditions of blocks are still open there, and whether it pays
// to decide one there. A condition has a bound part, over the loops that have values at this place, and a rest, the
// interval of what inner loops add (plan_context.h).
#pragma once

#include <vector>

#include "backends/lower/plan/plan_context.h"

namespace kiln {

class ConditionQueries {
 public:
  // Answers queries for the place that the context describes. Keeps a reference, so that answers change with the
  // context.
  explicit ConditionQueries(const PlanContext& context)
      : context_(context), p_(context.program()), plan_(context.plan()) {}

  // Returns the numbers of the blocks' conditions that the code around this place has not decided, ascending. The
  // guards of a block do not count if one of them is known to fail, nor do the conditions of a read if one of them is
  // known to fail.
  std::vector<int> Open(const std::vector<Id>& blocks) const;
  // True if the condition is a guard of each of these blocks.
  bool GuardsAll(int condition, const std::vector<Id>& blocks) const;
  // True if, in one of these blocks, the condition only skips terms of a sum that are zero. So it need not be tested
  // there.
  bool Drops(int condition, const std::vector<Id>& blocks) const;
  // True if only the condition's terms over loops that have a value here decide it: for each value of these terms, it
  // has one answer for all values of the other terms.
  bool HoldsAlike(int condition) const;
  // True if less than half of the values of the condition's bound part (its terms over loops that have a value here)
  // make it hold for all values of its other terms. A version of the code for these values would rarely run, and
  // unrolled iterations can each decide the condition for their own part.
  bool SeldomHolds(int condition) const;

  // True if the condition guards all these blocks, and ending the loop earlier decides it: it then holds for everything
  // inside the iterations that run.
  bool TrimsExactly(int condition, Id loop, const std::vector<Id>& blocks) const;
  // True if a loop inside this one is a better place to choose between code for complete tiles and other code. Such a
  // loop runs and contains all blocks that use the conditions `candidates`. An open condition depends on it, and ending
  // it earlier would not decide this condition.
  bool IsBetterInside(Id loop, const std::vector<int>& candidates) const;

 private:
  bool HoldsAlike(const IndexSum& bound, const Interval& rest, int64_t extent) const;

  const PlanContext& context_;
  const Program& p_;
  const IndexPlan& plan_;
};

}  // namespace kiln
