// Decides whether two values are equal at every point. A part of validator/proof/proof.h.
//
// The comparison expands both values until they are the same operation on the same operands. It decides each
// guard, or splits the points by it. Elements of a buffer that both programs have are equal where their
// indices are equal: this is the claim that the proof makes for every buffer, by induction over the
// instances that have run. Two reductions are equal if they combine the same values: provenance maps each
// instance of the scheduled program to an instance of the original, the map is one to one and leaves none
// out, and the values are equal.
#pragma once

#include "validator/proof/values.h"

namespace kiln::proof {

struct Finding {
  Answer answer = Answer::kYes;
  std::string why;             // the reason, for kNo and kUnknown
  std::vector<int64_t> point;  // kNo: a point where the values differ
};

class Comparison {
 public:
  // Prepares to compare values of `original` and of programs made from it. These number the original's buffers in the
  // same way and append new ones. After `most_steps` steps in all, comparisons answer kUnknown.
  Comparison(Decider& decider, const Model& original, int64_t most_steps)
      : decider_(decider),
        original_(original),
        shared_(static_cast<Id>(original.program().buffers.size())),
        steps_(most_steps) {}

  // Checks that two values are equal at all points. May add defined variables to `points`.
  Finding Same(Points& points, const Value& a, const Value& b);
  Finding Same(Points& points, const Value& a, const Look& b);
  Finding Same(Points& points, const Look& one, const Look& other);

 private:
  using Looker = absl::FunctionRef<Look(Points&)>;
  using Then = absl::FunctionRef<Finding(Points&, const Look&)>;
  struct Part;  // instances of a block that contribute to an element of a reduction

  // Calls `looker`, which returns the outermost form of a value. Where this form depends on undecided conditions, does
  // the same for the points of each case. Otherwise returns what `then` returns for the form. Returns kUnknown if the
  // form is unknown, or if the steps or the time are used up.
  Finding Cases(Points& points, Looker look, Then then);
  Finding Differ(const Points& points, std::string why);
  Finding SameOperation(Points& points, const Value& a, const Value& b);
  Finding SameBuffers(const Value& a, const Value& b);  // for gathers: compares all their elements
  // SameReduction checks that two reductions have one operation, start from equal values and combine the same
  // instances. The other functions are its parts (bags.cc).
  Finding SameReduction(Points& points, const Look& a, const Look& b);
  Finding SameInitial(Points& points, const Look& a, const Look& b);
  std::optional<std::string> Flatten(Part& part, Id origin);
  Finding SameInstances(Points& points, const Part& part, const Look& b, const std::vector<IndexSum>& map);
  Finding NeutralBeyond(const Part& part, const Look& b, const Condition& c);
  Finding IsNeutral(Points& points, const Value& value, const Expr& identity, bool sum);

  Decider& decider_;
  const Model& original_;
  Id shared_;
  int64_t steps_;
  int depth_ = 0;
};

}  // namespace kiln::proof
