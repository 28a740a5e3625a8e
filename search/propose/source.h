// A source of candidates for a batch (batch.h): draws from the prior, or neighbours of the best measured programs.
#pragma once

#include <optional>

#include "search/candidate.h"

namespace kiln {

class CandidateSource {
 public:
  virtual ~CandidateSource() = default;
  // Returns the next candidate, or nullopt if the source is empty or found nothing this time.
  virtual std::optional<Candidate> Next() = 0;
};

}  // namespace kiln
