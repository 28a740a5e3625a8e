#include "search/sampler/chain.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "absl/container/inlined_vector.h"
#include "trace/mutate.h"

namespace kiln {
namespace {

// A chooser that returns given decisions, one for each sampling step in order, and empty decisions once they run out.
class GivenDecisions final : public Chooser {
 public:
  explicit GivenDecisions(absl::Span<const Decision> decisions) : decisions_(decisions) {}
  Decision Choose(const Site&) override {
    return next_ < decisions_.size() ? decisions_[next_++] : Decision();
  }
  int ChooseStructure(absl::string_view, int) override { return 0; }

 private:
  absl::Span<const Decision> decisions_;
  size_t next_ = 0;
};

absl::StatusOr<Point> Prefiltered(const Prefilter& prefilter, int sketch, absl::StatusOr<Replayed> replayed) {
  if (!replayed.ok()) return replayed.status();
  Point point{sketch, *std::move(replayed), {}};
  const absl::Status status = prefilter(point.replayed, point.features);
  if (!status.ok()) return status;
  return point;
}

std::shared_ptr<const Point> OrNull(absl::StatusOr<Point> point) {
  return point.ok() ? std::make_shared<const Point>(*std::move(point)) : nullptr;
}

// The weights with which a move of a chain chooses the sampling step to change: 1 for a step with more than one value,
// else 0. Replay keeps snapshots only before steps with more than one value.
using Weights = absl::InlinedVector<double, 16>;
Weights SiteWeights(const Replayed& replayed) {
  Weights weights;
  for (const ReplayedSite& site : replayed.sites) weights.push_back(site.before == nullptr ? 0 : 1);
  return weights;
}

double Total(const Weights& weights) { return std::accumulate(weights.begin(), weights.end(), 0.0); }

// Proposes a move to another sketch, drawn uniformly. Decisions of sampling steps that both sketches have are kept or
// drawn again, as their maximal coupling says (ChangeSketch in trace/mutate.h). All sketches have the same prior
// probability P(k), so log_sketch stays zero.
Move ProposeSketch(const SearchSpace& space, const Prefilter& prefilter, const Point& from, Dice& dice) {
  int to = static_cast<int>(dice.Below(static_cast<int64_t>(space.sketches.size()) - 1));
  if (to >= from.sketch) ++to;
  Move move;
  move.to = OrNull(Prefiltered(
      prefilter, to,
      ChangeSketch(from.replayed, space.sketches[to], space.original, dice, {.opening = space.Opening(to)})));
  return move;
}

Move ProposeDecision(const Prefilter& prefilter, const Point& from, Dice& dice) {
  Move move;
  const Weights weights = SiteWeights(from.replayed);
  const double total = Total(weights);
  if (total == 0) return move;
  absl::StatusOr<Proposal> proposal = Mutate(from.replayed, dice.Pick(weights), dice);
  if (!proposal.ok()) return move;
  move.log_prior = proposal->log_prior_to - proposal->log_prior_from;
  move.log_proposal = proposal->log_backward - proposal->log_forward;
  move.log_sites = std::log(total / Total(SiteWeights(proposal->to)));
  move.to = OrNull(Prefiltered(prefilter, from.sketch, std::move(proposal->to)));
  return move;
}

}  // namespace

std::shared_ptr<const Snapshot> Openings::Of(const Trace& sketch, size_t index, const Program& program,
                                             const Target& target) {
  const std::lock_guard lock(mutex_);
  if (made_.size() <= index) made_.resize(index + 1);
  if (made_[index] == nullptr) made_[index] = OpeningOf(sketch, program, target);
  return made_[index];
}

Move Propose(const SearchSpace& space, const Prefilter& prefilter, const Point& from, double structure,
             Dice& dice) {
  const bool other_sketch = space.sketches.size() > 1 && dice.Flip(structure);
  return other_sketch ? ProposeSketch(space, prefilter, from, dice) : ProposeDecision(prefilter, from, dice);
}

double LogAlpha(const Move& move, double energy_from, double energy_to, double temperature) {
  return -(energy_to - energy_from) / temperature + move.log_sites + move.log_prior + move.log_proposal +
         move.log_sketch;
}

bool Accept(const Move& move, double energy_from, double energy_to, double temperature, Dice& dice) {
  if (move.to == nullptr) return false;
  return dice.Flip(std::min(1.0, std::exp(LogAlpha(move, energy_from, energy_to, temperature))));
}

absl::StatusOr<Point> DrawPoint(const SearchSpace& space, const Prefilter& prefilter, Dice& dice,
                                std::optional<int> sketch) {
  if (!sketch) sketch = static_cast<int>(dice.Below(static_cast<int64_t>(space.sketches.size())));
  RandomChooser chooser(dice);
  return Prefiltered(prefilter, *sketch, space.Replay(*sketch, chooser));
}

absl::StatusOr<Point> PointOf(const SearchSpace& space, const Prefilter& prefilter,
                              const Candidate& candidate) {
  if (candidate.sketch < 0 || candidate.sketch >= static_cast<int>(space.sketches.size())) {
    return absl::InvalidArgumentError("no such sketch");
  }
  GivenDecisions decisions(candidate.decisions);
  return Prefiltered(prefilter, candidate.sketch, space.Replay(candidate.sketch, decisions));
}

Candidate CandidateOf(const Point& point, double energy) {
  Candidate candidate{point.sketch, {}, energy};
  for (const ReplayedSite& site : point.replayed.sites) candidate.decisions.push_back(site.decision);
  return candidate;
}

}  // namespace kiln
