// Holds the values of the loops around a place of a loop plan, and the conditions that are decided there. The passes
// and the emitter walk a plan with it, so that all evaluate alike.
//
//   PlanContext context(program, indices);
//   context.ForEachCopy(loop, [&](int64_t first, int64_t count) {      // binds the loop
//     if (context.Decided(condition) == true) ...
//   });
//
// A condition 0 <= value < extent has a bound part, over the loops that are bound here, and a rest, which is an
// interval. Not thread-safe.
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
  // Keeps references to both.
  PlanContext(const Program& program, const IndexPlan& plan);

  // Calls visit(first, count) for each part of the loop's iterations that is emitted by itself, with the loop bound
  // to it: each copy of an unrolled loop, each group of lanes, all iterations of a loop that runs.
  void ForEachCopy(const plan::Loop& loop, absl::FunctionRef<void(int64_t first, int64_t count)> visit);

  // Calls visit while the conditions have this answer (nullopt: an unknown one).
  void With(absl::Span<const int> conditions, std::optional<bool> answer, absl::FunctionRef<void()> visit);
  // Calls visit while the bound part of the condition has this value, which is a constant from here on.
  void WithBoundary(int condition, int64_t value, absl::FunctionRef<void()> visit);

  struct Part {
    IndexSum bound;
    Interval rest;
  };
  Part PartOf(int condition) const;
  // The condition as a bound of a loop that is not bound: scale * loop + bound + least < extent, where `least` is the
  // least value of what else is not bound. Nullopt if the condition has no positive multiple of the loop.
  struct Trim {
    IndexSum bound;
    Interval others;  // of what else is not bound; `least` is its minimum
    int64_t scale = 0;
  };
  std::optional<Trim> TrimOf(int condition, Id loop) const;
  IndexSum UnboundPart(int condition, IndexSum* bound) const;
  // Returns the value of the condition's bound part; in WithBoundary, the boundary.
  IndexValue BoundValue(int condition);
  // Returns the value of the condition, of which all loops must be bound; in WithBoundary, with the boundary.
  IndexValue ValueOf(int condition);
  // Returns the answer that With set, or that is the same for all values that the loops may have here; else nullopt.
  // All loops of the condition must be bound.
  std::optional<bool> Decided(int condition);
  // Returns the answer that the code around has established (With); nullopt if none.
  std::optional<bool> Known(int condition) const { return known_[condition]; }
  bool IsAssumed(int condition) const { return assumed_.contains(condition); }
  // True if some of these conditions may have another answer in another lane.
  bool IsMasked(const std::vector<int>& conditions);
  // True if the ranges of the loops prove that the condition holds for all of its rest.
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
