#include "search/propose/neighbour_source.h"

namespace kiln {

std::optional<Candidate> NeighbourSource::Next() {
  const Point& centre = centres_[dice_.Below(static_cast<int64_t>(centres_.size()))];
  const Move move = Propose(space_, prefilter_, centre, other_sketch_share_, dice_);
  if (move.to == nullptr) return std::nullopt;
  return CandidateOf(*move.to, 0);
}

}  // namespace kiln
