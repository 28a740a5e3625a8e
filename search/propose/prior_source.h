// A source of candidates that draws from the prior: first the draws that the stratified prior recommends, if there is
// one, then draws of each sketch in turn.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "search/propose/source.h"
#include "search/propose/stratified_prior.h"
#include "search/sampler/chain.h"

namespace kiln {

class PriorSource final : public CandidateSource {
 public:
  // Draws sketches in the order of `sketches`. `engine` returns the random engine of the draw with a given number.
  // Space and prefilter must outlive the source.
  PriorSource(const SearchSpace& space, const Prefilter& prefilter, std::vector<int> sketches,
              std::optional<StratifiedPrior> stratified_prior, std::function<Engine(uint64_t draw)> engine)
      : space_(space),
        prefilter_(prefilter),
        sketches_(std::move(sketches)),
        stratified_prior_(std::move(stratified_prior)),
        engine_(std::move(engine)) {}

  std::optional<Candidate> Next() override;

 private:
  const SearchSpace& space_;
  const Prefilter& prefilter_;
  const std::vector<int> sketches_;
  std::optional<StratifiedPrior> stratified_prior_;
  const std::function<Engine(uint64_t)> engine_;
  uint64_t draws_ = 0;
};

}  // namespace kiln
