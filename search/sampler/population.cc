#include "search/sampler/population.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include <boost/random/uniform_01.hpp>

#include "search/purposes.h"
#include "search/sampler/prior.h"

namespace kiln {

Population::Population(const SearchSpace& space, const PopulationOptions& options, uint64_t seed, int task,
                       ThreadPool& pool)
    : space_(space),
      options_(options),
      seed_(seed),
      task_(static_cast<uint64_t>(task)),
      pool_(pool),
      prefilters_(MakePrefilters(space, pool)),
      temperature_(std::numeric_limits<double>::infinity()) {}

absl::Status Population::DrawPrior() {
  auto prior = kiln::DrawPrior(space_, prefilters_, options_.chains, seed_, static_cast<int>(task_), pool_);
  if (!prior.ok()) return prior.status();
  prior_ = *std::move(prior);
  return absl::OkStatus();
}

absl::Status Population::Start() {
  const absl::Status status = DrawPrior();
  for (const auto& point : prior_) chains_.push_back({point, 0});
  return status;
}

Population::State Population::Save() const {
  State state{temperature_, {}};
  for (const Chain& chain : chains_) state.chains.push_back(CandidateOf(*chain.at, chain.energy));
  return state;
}

absl::Status Population::Restore(const State& state) {
  const absl::Status status = DrawPrior();
  if (!status.ok()) return status;
  temperature_ = state.temperature;
  chains_.clear();
  for (const Candidate& candidate : state.chains) {
    absl::StatusOr<Point> point = PointOf(space_, prefilters_[0], candidate);
    if (!point.ok()) return point.status();
    chains_.push_back({std::make_shared<const Point>(*std::move(point)), candidate.energy});
  }
  return absl::OkStatus();
}

absl::StatusOr<std::vector<double>> Population::Energies(const CostModel& model,
                                                         const FeatureBatch& features) const {
  absl::StatusOr<std::vector<double>> energies = model.Predict(features);
  if (!energies.ok()) return energies;
  for (double& e : *energies) e = scale_.Energy(e);
  return energies;
}

void Population::Resample(int round, int step, absl::Span<const double> log_weights) {
  stats_.effective = std::min(stats_.effective, EffectiveSampleSize(log_weights));
  Engine engine = EngineOf(seed_, task_, round, 0, step, Purpose::kResample);
  std::vector<Chain> next;
  for (const int i : SystematicResample(log_weights, boost::random::uniform_01<double>()(engine)))
    next.push_back(chains_[i]);
  chains_ = std::move(next);
}

absl::Status Population::Reweigh(int round, const CostModel& model) {
  FeatureBatch prior;
  for (const auto& point : prior_) prior.Append(point->features);
  absl::StatusOr<std::vector<double>> scores = model.Predict(prior);
  if (!scores.ok()) return scores.status();
  scale_ = ScaleOf(*std::move(scores));

  FeatureBatch features;
  for (const Chain& chain : chains_) features.Append(chain.at->features);
  const absl::StatusOr<std::vector<double>> energies = Energies(model, features);
  if (!energies.ok()) return energies.status();
  std::vector<double> old;
  for (const Chain& chain : chains_) old.push_back(chain.energy);
  const Carried carried = CarryOver(old, *energies, temperature_, options_.start);
  for (size_t i = 0; i < chains_.size(); ++i) chains_[i].energy = (*energies)[i];
  temperature_ = carried.temperature;
  if (options_.resample) Resample(round, 0, carried.log_weights);
  return absl::OkStatus();
}

absl::Status Population::Restart(int round, const CostModel& model, absl::Span<const Candidate> best,
                                 Archive& archive) {
  const int chains = static_cast<int>(chains_.size());
  const int from_best = best.empty() ? 0 : static_cast<int>(options_.from_best * chains);
  const int from_prior = static_cast<int>(options_.from_prior * chains);
  std::vector<absl::StatusOr<Point>> starts(from_best + from_prior, absl::UnknownError(""));
  pool_.For(from_best + from_prior, [&](int i, int thread) {
    if (i < from_best) {
      starts[i] = PointOf(space_, prefilters_[thread], best[i % best.size()]);
      return;
    }
    RandomDice dice(EngineOf(seed_, task_, round, i, 0, Purpose::kFresh));
    const int sketch = (round + i) % static_cast<int>(space_.sketches.size());
    starts[i] = DrawValid(space_, prefilters_[thread], sketch, dice);
  });
  FeatureBatch features;
  std::vector<Chain*> restarted;
  for (size_t i = 0; i < starts.size(); ++i) {
    if (!starts[i].ok()) continue;
    features.Append(starts[i]->features);
    restarted.push_back(&chains_[chains - 1 - i]);
    restarted.back()->at = std::make_shared<const Point>(*std::move(starts[i]));
  }
  if (restarted.empty()) return absl::OkStatus();
  const absl::StatusOr<std::vector<double>> energies = Energies(model, features);
  if (!energies.ok()) return energies.status();
  for (size_t i = 0; i < restarted.size(); ++i) {
    restarted[i]->energy = (*energies)[i];
    archive.Add(*restarted[i]->at, restarted[i]->energy);
  }
  return absl::OkStatus();
}

absl::Status Population::Step(int round, int step, const CostModel& model, Archive& archive) {
  const int chains = static_cast<int>(chains_.size());
  const auto engine = [&](int chain, Purpose purpose) {
    return EngineOf(seed_, task_, round, chain, step, purpose);
  };
  std::vector<Move> moves(chains);
  pool_.For(chains, [&](int i, int thread) {
    RandomDice dice(engine(i, Purpose::kPropose));
    moves[i] = Propose(space_, prefilters_[thread], *chains_[i].at, options_.structure, dice);
  });
  FeatureBatch features;
  for (const Move& move : moves) {
    if (move.to != nullptr) features.Append(move.to->features);
  }
  stats_.proposed += chains;
  stats_.valid += features.programs();
  if (features.programs() == 0) return absl::OkStatus();
  const absl::StatusOr<std::vector<double>> energies = Energies(model, features);
  if (!energies.ok()) return energies.status();
  for (int i = 0, next = 0; i < chains; ++i) {
    if (moves[i].to == nullptr) continue;
    const double energy = (*energies)[next++];
    stats_.duplicates += !archive.Add(*moves[i].to, energy);
    RandomDice dice(engine(i, Purpose::kAccept));
    if (!Accept(moves[i], chains_[i].energy, energy, temperature_, dice)) continue;
    chains_[i] = {moves[i].to, energy};
    ++stats_.accepted;
  }
  return absl::OkStatus();
}

absl::StatusOr<std::vector<Candidate>> Population::Round(int round, const CostModel& model,
                                                         absl::Span<const Candidate> best,
                                                         const std::atomic<bool>* stop, int steps) {
  stats_ = {.effective = static_cast<double>(chains_.size())};
  Archive archive(options_.archive);
  absl::Status status = Reweigh(round, model);
  if (status.ok()) status = Restart(round, model, best, archive);
  if (!status.ok()) return status;
  for (const Chain& chain : chains_) archive.Add(*chain.at, chain.energy);
  if (steps == 0) steps = options_.steps;
  const int steps_per_generation = std::max(1, steps / options_.generations);
  for (int step = 1; step <= steps; ++step) {
    if (stop != nullptr && *stop) return absl::CancelledError("stopped");
    if ((step - 1) % steps_per_generation == 0) Cool(round, step);
    status = Step(round, step, model, archive);
    if (!status.ok()) return status;
  }
  stats_.temperature = temperature_;
  return archive.Take(model, scale_.spread);
}

void Population::Cool(int round, int step) {
  std::vector<double> weights;
  for (const Chain& chain : chains_) weights.push_back(chain.energy);
  const double colder = NextTemperature(weights, temperature_, options_.floor);
  if (colder >= temperature_) return;
  for (double& w : weights) w *= -(1 / colder - 1 / temperature_);
  temperature_ = colder;
  if (options_.resample) Resample(round, step, weights);
}

}  // namespace kiln
