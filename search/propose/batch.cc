#include "search/propose/batch.h"

#include <algorithm>
#include <map>
#include <tuple>

namespace kiln {
namespace {

constexpr int kTriesPerDraw = 50;

// Picks candidates greedily. Each time, takes the candidate with the least energy minus a bonus: `diversity` times the
// share of its decisions that are new in the batch.
class Ranking {
 public:
  Ranking(std::vector<Candidate> candidates, double diversity)
      : candidates_(std::move(candidates)), taken_(candidates_.size(), false), diversity_(diversity) {
    for (const Candidate& candidate : candidates_) parts_.push_back(PartsOf(candidate));
  }

  std::optional<Candidate> Next() {
    return Take([this](size_t i) { return candidates_[i].energy - diversity_ * Novelty(parts_[i]); });
  }

  // Takes and returns the candidate with the largest uncertainty. Returns nullopt if all uncertainties are 0 or no
  // candidate is left.
  std::optional<Candidate> MostDoubtful() {
    const bool sure = std::all_of(candidates_.begin(), candidates_.end(),
                                  [](const Candidate& candidate) { return candidate.uncertainty <= 0; });
    return sure ? std::nullopt : Take([this](size_t i) { return -candidates_[i].uncertainty; });
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

  // Returns a number for each decision of a candidate. Equal decisions at the same sampling step of the same sketch get
  // equal numbers.
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

class Slots {
 public:
  Slots(const BatchSources& sources, absl::flat_hash_set<std::string>& measured, std::vector<Picked>* batch)
      : sources_(sources), measured_(measured), batch_(*batch) {}

  bool Take(const std::optional<Candidate>& candidate, bool random) {
    const std::optional<std::string> hash = candidate ? sources_.hash(*candidate) : std::nullopt;
    if (!hash || !measured_.insert(*hash).second) return false;
    batch_.push_back({*candidate, *hash, random});
    return true;
  }
  bool TakeNeighbour() { return TakeOneOf(sources_.neighbours, false); }
  bool TakeRandom() { return TakeOneOf(sources_.prior, true); }

 private:
  bool TakeOneOf(CandidateSource& source, bool random) {
    for (int i = 0; i < kTriesPerDraw; ++i) {
      if (Take(source.Next(), random)) return true;
    }
    return false;
  }

  const BatchSources& sources_;
  absl::flat_hash_set<std::string>& measured_;
  std::vector<Picked>& batch_;
};

double Searched(const BatchOptions& options) {
  return std::max(0.0, 1 - options.neighbour_share - options.random_share);
}

}  // namespace

int BatchSize(int done) { return std::clamp(done / 2, 16, 64); }

std::vector<Picked> SelectListed(absl::Span<const Candidate> candidates, const BatchSources& sources,
                                 const BatchOptions& options, absl::flat_hash_set<std::string>& measured) {
  std::vector<Picked> batch;
  Slots slots(sources, measured, &batch);
  for (const Candidate& candidate : candidates)
    if (static_cast<int>(batch.size()) < options.size) slots.Take(candidate, false);
  return batch;
}

std::vector<Picked> SelectUnsearched(const BatchSources& sources, const BatchOptions& options, Dice& dice,
                                     absl::flat_hash_set<std::string>& measured) {
  std::vector<Picked> batch;
  Slots slots(sources, measured, &batch);
  const double shares[] = {Searched(options), options.neighbour_share, options.random_share};
  for (int slot = 0; slot < options.size; ++slot) {
    const int kind = dice.Pick(shares);
    if (kind == 1) slots.TakeNeighbour();
    if (kind == 2) slots.TakeRandom();
  }
  return batch;
}

void SelectSearched(std::vector<Candidate> candidates, const BatchSources& sources,
                    const BatchOptions& options, Dice& dice, absl::flat_hash_set<std::string>& measured,
                    std::vector<Picked>* batch) {
  Ranking ranking(std::move(candidates), options.diversity);
  for (const Picked& picked : *batch) ranking.Picked(picked.candidate);
  Slots slots(sources, measured, batch);
  const auto take = [&](const std::optional<Candidate>& candidate) {
    if (!candidate || !slots.Take(candidate, false)) return false;
    ranking.Picked(*candidate);
    return true;
  };
  const auto take_greedy = [&] {
    while (const std::optional<Candidate> candidate = ranking.Next()) {
      if (take(candidate)) return true;
    }
    return false;
  };
  const auto take_random = [&] {
    if (!slots.TakeRandom()) return false;
    ranking.Picked(batch->back().candidate);
    return true;
  };
  const double doubtful = std::min(options.uncertainty_share, Searched(options));
  const double shares[] = {Searched(options) - doubtful, doubtful};
  while (static_cast<int>(batch->size()) < options.size) {
    if (doubtful > 0 && dice.Pick(shares) == 1 && take(ranking.MostDoubtful())) continue;
    if (take_greedy() || (options.fill && take_random())) continue;
    break;
  }
}

}  // namespace kiln
