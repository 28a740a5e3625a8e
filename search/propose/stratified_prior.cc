#include "search/propose/stratified_prior.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace kiln {

StratifiedPrior::StratifiedPrior(const SearchSpace& space, const Prefilter& prefilter, const Score& score,
                                 std::vector<int> measured, int draws,
                                 const std::function<Engine(uint64_t)>& engine)
    : seen_(space.sketches.size()), measured_(std::move(measured)) {
  for (size_t s = 0; s < seen_.size(); ++s) {
    RandomDice dice(engine(s));
    for (int i = 0; i < draws; ++i) {
      const absl::StatusOr<Point> point = DrawPoint(space, prefilter, dice, static_cast<int>(s));
      if (point.ok()) seen_[s].push_back({score(*point), i, CandidateOf(*point, 0)});
    }
    std::sort(seen_[s].begin(), seen_[s].end(), [](const Seen& a, const Seen& b) {
      return a.score != b.score ? a.score < b.score : a.draw > b.draw;
    });
  }
}

std::optional<Candidate> StratifiedPrior::Next() {
  std::optional<size_t> best;
  double most = -std::numeric_limits<double>::infinity();
  for (size_t s = 0; s < seen_.size(); ++s) {
    if (seen_[s].empty()) continue;
    const double worth = seen_[s].back().score - 0.5 * std::log1p(measured_[s]);
    if (best && worth <= most) continue;
    most = worth;
    best = s;
  }
  if (!best) return std::nullopt;
  Candidate candidate = std::move(seen_[*best].back().candidate);
  seen_[*best].pop_back();
  ++measured_[*best];
  return candidate;
}

}  // namespace kiln
