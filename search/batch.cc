#include "search/batch.h"

#include <algorithm>

namespace kiln {
namespace {

constexpr int kTriesPerDraw = 50;

// The greedy order: repeatedly the best of what is left, by energy plus the penalty for what was picked.
class Ranking {
 public:
  Ranking(std::vector<Candidate> candidates, double diversity)
      : candidates_(std::move(candidates)), nearest_(candidates_.size(), 0), diversity_(diversity) {}

  std::optional<Candidate> Next() {
    int best = -1;
    for (size_t i = 0; i < candidates_.size(); ++i) {
      if (nearest_[i] >= 0 && (best < 0 || Value(i) < Value(best))) best = static_cast<int>(i);
    }
    if (best < 0) return std::nullopt;
    nearest_[best] = -1;
    return candidates_[best];
  }

  void Picked(const Candidate& picked) {
    for (size_t i = 0; i < candidates_.size(); ++i) {
      if (nearest_[i] >= 0) nearest_[i] = std::max(nearest_[i], Similarity(candidates_[i], picked));
    }
  }

 private:
  double Value(size_t i) const { return candidates_[i].energy + diversity_ * nearest_[i]; }

  std::vector<Candidate> candidates_;
  std::vector<double> nearest_;  // similarity to the most similar one picked; -1: taken
  double diversity_;
};

}  // namespace

double Similarity(const Candidate& a, const Candidate& b) {
  if (a.sketch != b.sketch) return 0;
  if (a.decisions.empty()) return 1;
  size_t equal = 0;
  for (size_t i = 0; i < std::min(a.decisions.size(), b.decisions.size()); ++i)
    equal += a.decisions[i] == b.decisions[i];
  return static_cast<double>(equal) / static_cast<double>(std::max(a.decisions.size(), b.decisions.size()));
}

int BatchSize(int done) { return std::clamp(done / 2, 16, 64); }

std::vector<Picked> SelectBatch(std::vector<Candidate> candidates, const BatchSource& source,
                                const BatchOptions& options, Dice& dice,
                                absl::flat_hash_set<std::string>& measured) {
  Ranking ranking(std::move(candidates), options.diversity);
  std::vector<Picked> batch;
  const auto take = [&](const std::optional<Candidate>& candidate, bool random) {
    const std::optional<std::string> hash = candidate ? source.hash(*candidate) : std::nullopt;
    if (!hash || !measured.insert(*hash).second) return false;
    batch.push_back({*candidate, *hash, random});
    ranking.Picked(*candidate);
    return true;
  };
  const auto take_greedy = [&] {
    while (const std::optional<Candidate> candidate = ranking.Next()) {
      if (take(candidate, false)) return true;
    }
    return false;
  };
  const auto take_one_of = [&](const std::function<std::optional<Candidate>()>& next, bool random) {
    for (int i = 0; i < kTriesPerDraw; ++i) {
      if (take(next(), random)) return true;
    }
    return false;
  };
  const auto take_random = [&] { return take_one_of(source.draw, true); };
  while (static_cast<int>(batch.size()) < options.size) {
    const bool random = dice.Flip(options.random_share);
    if (!random && dice.Flip(options.neighbour_share) && take_one_of(source.neighbour, false)) continue;
    if (random ? take_random() || take_greedy() : take_greedy() || take_random()) continue;
    break;
  }
  return batch;
}

}  // namespace kiln
