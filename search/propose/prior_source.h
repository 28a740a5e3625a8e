// Gives draws from the prior: first those that the scout recommends, then draws of each sketch in turn.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "search/propose/scout.h"
#include "search/propose/source.h"
#include "search/sampler/chain.h"

namespace kiln {

class PriorSource final : public CandidateSource {
 public:
  // Draws sketches in the order of `sketches`. `engine` returns the engine of the draw with a given number.
  // Space and judge must outlive the source.
  PriorSource(const SearchSpace& space, const Judge& judge, std::vector<int> sketches,
              std::optional<Scout> scout, std::function<Engine(uint64_t draw)> engine)
      : space_(space),
        judge_(judge),
        sketches_(std::move(sketches)),
        scout_(std::move(scout)),
        engine_(std::move(engine)) {}

  std::optional<Candidate> Next() override;

 private:
  const SearchSpace& space_;
  const Judge& judge_;
  const std::vector<int> sketches_;
  std::optional<Scout> scout_;
  const std::function<Engine(uint64_t)> engine_;
  uint64_t draws_ = 0;
};

}  // namespace kiln
