#include "search/sampler/archive.h"

#include <algorithm>
#include <tuple>

namespace kiln {
namespace {

// Returns a key that is equal for equal decisions of the same sketch.
std::vector<int64_t> KeyOf(const Candidate& candidate) {
  std::vector<int64_t> key{candidate.sketch};
  for (const Decision& decision : candidate.decisions)
    key.insert(key.end(), decision.begin(), decision.end());
  return key;
}

}  // namespace

bool Archive::Add(const Point& point, double energy) {
  Candidate candidate = CandidateOf(point, energy);
  if (!known_.insert(KeyOf(candidate)).second) return false;
  if (energy >= worst_) return true;
  entries_.push_back({std::move(candidate), point.features});
  if (entries_.size() >= 2 * size_) Shrink();
  return true;
}

absl::StatusOr<std::vector<Candidate>> Archive::Take(const CostModel& model, double spread) {
  Shrink();
  FeatureBatch features;
  for (const Entry& entry : entries_) features.Append(entry.features);
  const absl::StatusOr<std::vector<double>> uncertainties = model.Disagreement(features);
  if (!uncertainties.ok()) return uncertainties.status();
  std::vector<Candidate> candidates;
  for (size_t i = 0; i < entries_.size(); ++i) {
    candidates.push_back(std::move(entries_[i].candidate));
    candidates.back().uncertainty = (*uncertainties)[i] / spread;
  }
  entries_.clear();
  return candidates;
}

void Archive::Shrink() {
  std::sort(entries_.begin(), entries_.end(), [](const Entry& x, const Entry& y) {
    const Candidate &a = x.candidate, &b = y.candidate;
    return std::tie(a.energy, a.sketch, a.decisions) < std::tie(b.energy, b.sketch, b.decisions);
  });
  if (entries_.size() <= size_) return;
  entries_.resize(size_);
  worst_ = entries_.back().candidate.energy;
}

}  // namespace kiln
