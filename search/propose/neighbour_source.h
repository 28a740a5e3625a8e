// Neighbours of the best measured programs: another decision at one site, or the same decisions in another
// sketch.
#pragma once

#include <optional>
#include <utility>
#include <vector>

#include "search/propose/source.h"
#include "search/sampler/chain.h"

namespace kiln {

class NeighbourSource final : public CandidateSource {
 public:
  // Of each of `centres` with the same probability. Space, judge and dice must outlive the source.
  NeighbourSource(const SearchSpace& space, const Judge& judge, std::vector<Point> centres, Dice& dice)
      : space_(space), judge_(judge), centres_(std::move(centres)), dice_(dice) {}

  bool empty() const { return centres_.empty(); }
  // Requires that it is not empty. None: the neighbour drawn may not be measured.
  std::optional<Candidate> Next() override;

 private:
  const SearchSpace& space_;
  const Judge& judge_;
  const std::vector<Point> centres_;
  Dice& dice_;
};

}  // namespace kiln
