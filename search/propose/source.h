// Where candidates of a batch come from (batch.h): draws from the prior, neighbours of the best, what a
// strategy found.
#pragma once

#include <optional>

#include "search/candidate.h"

namespace kiln {

class CandidateSource {
 public:
  virtual ~CandidateSource() = default;
  // The next candidate. None: the source is empty, or found nothing this time.
  virtual std::optional<Candidate> Next() = 0;
};

}  // namespace kiln
