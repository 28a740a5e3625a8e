// Pairs of instances that touch one element, by the order in which loops run them.
// A part of validator/proof/proof.h.
#pragma once

#include "validator/proof/prover.h"

namespace kiln::proof {

// Of two relations whose first `loops` results are the iterations of the loops around both, and whose other
// results are an element: the pairs of points with one element.
class Pairs {
 public:
  Pairs(const Relation& one, const Relation& other, size_t loops);

  // The variables of `one`, then those of `other`.
  const Points& points() const { return points_; }
  // Where `other` runs in a later (earlier) iteration of a loop than `one`.
  Points Later(size_t loop, int64_t extent) const;
  Points Earlier(size_t loop, int64_t extent) const;
  // From now on, both run in the same iteration of the loop.
  void Equate(size_t loop);

 private:
  Points points_;
  std::vector<Sum> ahead_;  // by loop: how many iterations `other` is ahead
};

}  // namespace kiln::proof
