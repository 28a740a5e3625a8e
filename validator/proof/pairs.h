// Pairs of instances that touch the same element, classified by the order in which loops run them. A part of
// validator/proof/proof.h.
#pragma once

#include "validator/proof/prover.h"

namespace kiln::proof {

// The pairs of points of two relations that touch the same element. The first `loops` results of each
// relation are the iterations of the common loops; the other results are the element.
class Pairs {
 public:
  Pairs(const Relation& one, const Relation& other, size_t loops);

  // Returns the pairs as points: the variables of `one`, followed by those of `other`.
  const Points& points() const { return points_; }
  // Returns by how many iterations of the common loop number `loop` the instance of `other` is ahead of that of `one`,
  // as a sum over the pairs.
  const IndexSum& Ahead(size_t loop) const { return ahead_[loop]; }
  // Return the pairs in which the instance of `other` runs in a later (earlier) iteration of the loop than that of
  // `one`.
  Points Later(size_t loop, int64_t extent) const;
  Points Earlier(size_t loop, int64_t extent) const;
  // Keeps only the pairs whose two instances run in the same iteration of the loop.
  void Equate(size_t loop);

 private:
  Points points_;
  std::vector<IndexSum> ahead_;  // for each loop, how many iterations `other` is ahead of `one`
};

}  // namespace kiln::proof
