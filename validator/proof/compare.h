// Whether two values are equal at every point. A part of validator/proof/proof.h.
//
// Values are expanded, guards decided or split by, until both are the same operation on the same operands.
// Elements of a buffer that both programs have are equal where their indices are (the claim that the proof
// makes for every buffer, by induction over what has run). Reductions are equal if what enters is: each
// instance of the scheduled program's stands for an instance of the original's, by provenance; different ones
// for different ones, none is left out, and equal values enter.
#pragma once

#include "validator/proof/values.h"

namespace kiln::proof {

struct Finding {
  Answer answer = Answer::kYes;
  std::string why;             // kNo, kUnknown
  std::vector<int64_t> point;  // kNo: where
};

class Comparison {
 public:
  // Buffers of the original, and others, are numbered alike in programs made from it.
  Comparison(Decider& decider, const Model& original, int64_t most_steps)
      : decider_(decider),
        original_(original),
        shared_(static_cast<Id>(original.program().buffers.size())),
        steps_(most_steps) {}

  // `points` may be given more defined variables.
  Finding Same(Points& points, const Value& a, const Value& b);
  Finding Same(Points& points, const Value& a, const Look& b);
  Finding Same(Points& points, const Look& one, const Look& other);

 private:
  using Looker = absl::FunctionRef<Look(Points&)>;
  using Then = absl::FunctionRef<Finding(Points&, const Look&)>;
  struct Part;  // of what enters a reduction

  // Looks, and goes on at the points of each case.
  Finding Cases(Points& points, Looker look, Then then);
  Finding Differ(const Points& points, std::string why);
  Finding SameOperation(Points& points, const Value& a, const Value& b);
  Finding SameBuffers(const Value& a, const Value& b);  // of gathers: all their elements
  // What enters reductions (bags.cc).
  Finding SameReduction(Points& points, const Look& a, const Look& b);
  Finding SameInitial(Points& points, const Look& a, const Look& b);
  std::optional<std::string> Flatten(Part& part, Id origin);
  Finding SameInstances(Points& points, const Part& part, const Look& b, const std::vector<Sum>& map);
  Finding NeutralBeyond(const Part& part, const Look& b, const Condition& c);
  Finding IsNeutral(Points& points, const Value& value, const Expr& identity, bool sum);

  Decider& decider_;
  const Model& original_;
  Id shared_;
  int64_t steps_;
  int depth_ = 0;
};

}  // namespace kiln::proof
