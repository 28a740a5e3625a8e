#include "search/batch.h"

#include <algorithm>
#include <map>
#include <tuple>

namespace kiln {
namespace {

constexpr int kTriesPerDraw = 50;

// The greedy order: repeatedly the best of what is left, by energy less what its new decisions are worth.
class Ranking {
 public:
  Ranking(std::vector<Candidate> candidates, double diversity)
      : candidates_(std::move(candidates)), taken_(candidates_.size(), false), diversity_(diversity) {
    for (const Candidate& candidate : candidates_) parts_.push_back(PartsOf(candidate));
  }

  std::optional<Candidate> Next() {
    return Take([this](size_t i) { return candidates_[i].energy - diversity_ * Novelty(parts_[i]); });
  }

  // The one of which the model is least sure; none if it is sure of all.
  std::optional<Candidate> MostDoubtful() {
    const bool sure = std::all_of(candidates_.begin(), candidates_.end(),
                                  [](const Candidate& candidate) { return candidate.doubt <= 0; });
    return sure ? std::nullopt : Take([this](size_t i) { return -candidates_[i].doubt; });
  }

  void Picked(const Candidate& picked) {
    for (const int part : PartsOf(picked)) has_[part] = true;
  }

 private:
  template <typename Value>
  std::optional<Candidate> Take(const Value& value) {
    int best = -1;
    double least = 0;
    for (size_t i = 0; i < candidates_.size(); ++i) {
      if (taken_[i]) continue;
      const double v = value(i);
      if (best >= 0 && v >= least) continue;
      best = static_cast<int>(i);
      least = v;
    }
    if (best < 0) return std::nullopt;
    taken_[best] = true;
    return candidates_[best];
  }

  // A number for each decision at each site of each sketch.
  std::vector<int> PartsOf(const Candidate& candidate) {
    std::vector<int> parts;
    for (size_t i = 0; i < candidate.decisions.size(); ++i) {
      const auto key = std::make_tuple(candidate.sketch, i, candidate.decisions[i]);
      parts.push_back(numbers_.try_emplace(key, static_cast<int>(numbers_.size())).first->second);
    }
    has_.resize(numbers_.size(), false);
    return parts;
  }

  double Novelty(const std::vector<int>& parts) const {
    const auto fresh = std::count_if(parts.begin(), parts.end(), [this](int part) { return !has_[part]; });
    return parts.empty() ? 0 : static_cast<double>(fresh) / static_cast<double>(parts.size());
  }

  std::vector<Candidate> candidates_;
  std::vector<bool> taken_, has_;
  std::vector<std::vector<int>> parts_;
  std::map<std::tuple<int, size_t, Decision>, int> numbers_;
  double diversity_;
};

}  // namespace

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
  const auto take_doubtful = [&] {
    const std::optional<Candidate> candidate = ranking.MostDoubtful();
    return candidate && take(candidate, false);
  };
  const double other = options.neighbour_share + options.doubt_share + options.random_share;
  const double shares[] = {std::max(0.0, 1 - other), options.neighbour_share, options.doubt_share,
                           options.random_share};
  while (static_cast<int>(batch.size()) < options.size) {
    const int kind = dice.Pick(shares);
    if (kind == 1 && take_one_of(source.neighbour, false)) continue;
    if (kind == 2 && take_doubtful()) continue;
    if (kind == 3 && take_random()) continue;
    if (take_greedy() || (options.fill && take_random())) continue;
    break;
  }
  return batch;
}

}  // namespace kiln
