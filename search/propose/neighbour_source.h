// A source of candidates: random neighbours of the best measured programs. A neighbour has another decision at one
// sampling step, or the same decisions in another sketch. Decisions at later steps are kept or drawn again
// (trace/mutate.h).
#pragma once

#include <optional>
#include <utility>
#include <vector>

#include "search/propose/source.h"
#include "search/sampler/chain.h"

namespace kiln {

class NeighbourSource final : public CandidateSource {
 public:
  // Each of `centres` is chosen with the same probability. `other_sketch_share`: the probability that neighbours keep
  // the decisions and change the sketch. Space, prefilter and dice must outlive the source.
  NeighbourSource(const SearchSpace& space, const Prefilter& prefilter, std::vector<Point> centres,
                  double other_sketch_share, Dice& dice)
      : space_(space),
        prefilter_(prefilter),
        centres_(std::move(centres)),
        other_sketch_share_(other_sketch_share),
        dice_(dice) {}

  bool empty() const { return centres_.empty(); }
  // Draws a neighbour of a random centre. Returns nullopt if the neighbour may not be measured. Requires that there is
  // a centre.
  std::optional<Candidate> Next() override;

 private:
  const SearchSpace& space_;
  const Prefilter& prefilter_;
  const std::vector<Point> centres_;
  const double other_sketch_share_;
  Dice& dice_;
};

}  // namespace kiln
