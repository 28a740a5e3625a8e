// PlanContext: the values of the loops around a place of a loop plan, and the conditions that are decided there. The
// passes and the emitter update it while they walk a plan, so that all evaluate alike.
//
//   PlanContext context(program, indices);
//   context.ForEachCopy(loop, [&](int64_t first, int64_t count) {      // binds the loop
//     if (context.Decided(condition) == true) ...
//   });
//
// A condition 0 <= value < extent has a bound part, its terms over loops that have a value at this place, and a rest,
// the interval of the sum of its other terms. Not thread-safe.
#pragma once

#include <map>
#include <optional>
#include <vector>

#include "absl/functional/function_ref.h"
#include "backends/lower/plan/index_evaluator.h"
#include "backends/lower/plan/loop_plan.h"

namespace kiln {

class PlanContext {
 public:
  // Makes a context at a place outside of all loops, where no condition is decided. Keeps references to both arguments.
  PlanContext(const Program& program, const IndexPlan& plan);

  // Calls visit(first, count) for each range of the loop's iterations that gets code of its own: each copy of an
  // unrolled loop, each group of vector lanes, or all iterations of a loop that runs. The loop has the value of the
  // range during the call. Leaves out copies of an `ahead` loop beyond the loop's last iteration.
  void ForEachCopy(const plan::Loop& loop, absl::FunctionRef<void(int64_t first, int64_t count)> visit);

  // Calls visit(). During the call, all these conditions count as true or false, as `answer` says, or as not known
  // (nullopt).
  void With(absl::Span<const int> conditions, std::optional<bool> answer, absl::FunctionRef<void()> visit);
  // Calls visit(). During the call, the condition's bound part (its terms over loops that have a value now) counts as
  // the constant `value`.
  void WithBoundary(int condition, int64_t value, absl::FunctionRef<void()> visit);

  struct Part {
    IndexSum bound;
    Interval rest;
  };
  Part PartOf(int condition) const;
  // A condition 0 <= value < extent as an upper bound of a loop that has no value yet: scale * loop + bound + least <
  // extent. `bound` has the terms over loops with a value, and `least` is the least value of the remaining terms.
  // TrimOf returns nullopt unless the condition contains the loop's variable, undivided, with a positive scale.
  struct Trim {
    IndexSum bound;
    Interval others;  // of what else is not bound; `least` is its minimum
    int64_t scale = 0;
  };
  std::optional<Trim> TrimOf(int condition, Id loop) const;
  IndexSum UnboundPart(int condition, IndexSum* bound) const;
  // Returns the value of the condition's bound part (its terms over loops that have a value here). During WithBoundary,
  // uses the constant that was given there.
  IndexValue BoundValue(int condition);
  // Returns `value` of the condition 0 <= value < extent. All its loops must have a value here. During WithBoundary,
  // uses the constant that was given there for a part of its terms.
  IndexValue ValueOf(int condition);
  // Returns whether the condition holds: the answer that With set, or else the one that the ranges of the loops prove.
  // Returns nullopt if neither decides it. All loops of the condition must have a value here.
  std::optional<bool> Decided(int condition);
  // Returns whether the condition holds as the code around this place has established it (set by With). Returns nullopt
  // if it has not.
  std::optional<bool> Known(int condition) const { return known_[condition]; }
  bool IsAssumed(int condition) const { return assumed_.contains(condition); }
  // True if the value of one of these conditions differs between vector lanes, so that their answers may differ.
  bool IsMasked(const std::vector<int>& conditions);
  // True if the ranges of the loops prove that the condition holds for all values of the loops that have no value here
  // yet.
  bool HoldsForAll(int condition);
  // True if the ranges of the loops prove 0 <= value + least and value + most < extent.
  bool IsWithin(const IndexValue& value, int64_t extent, int64_t least, int64_t most) const;

  const Program& program() const { return program_; }
  const IndexPlan& plan() const { return plan_; }
  IndexEvaluator& indices() { return indices_; }
  const IndexEvaluator& indices() const { return indices_; }
  int level() const { return level_; }      // loops that run around here
  int64_t lanes() const { return lanes_; }  // 0: not in a vectorized loop
  Id vector_loop() const { return vector_loop_; }

 private:
  struct Boundary {
    IndexValue bound;
    int64_t value = 0;
  };
  IndexValue Assumed(int condition, IndexValue value) const;
  bool IsBound(const IndexSum& sum) const;

  const Program& program_;
  const IndexPlan& plan_;
  IndexEvaluator indices_;
  int level_ = 0;
  int64_t lanes_ = 0;
  Id vector_loop_ = kNone;
  std::vector<std::optional<bool>> known_;
  std::map<int, Boundary> assumed_;
};

}  // namespace kiln
