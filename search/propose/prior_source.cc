#include "search/propose/prior_source.h"

#include "search/sampler/prior.h"

namespace kiln {

std::optional<Candidate> PriorSource::Next() {
  if (stratified_prior_)
    if (std::optional<Candidate> next = stratified_prior_->Next()) return next;
  RandomDice dice(engine_(draws_));
  const int sketch = sketches_[draws_++ % sketches_.size()];
  const absl::StatusOr<Point> point = DrawValid(space_, prefilter_, sketch, dice);
  return point.ok() ? std::optional(CandidateOf(*point, 0)) : std::nullopt;
}

}  // namespace kiln
