#include "search/population.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <tuple>

#include <boost/random/uniform_01.hpp>

#include "absl/container/flat_hash_set.h"
#include "absl/strings/str_cat.h"

namespace kiln {
namespace {

constexpr int kTriesPerDraw = 100;
enum Purpose : uint64_t { kPrior = 1, kFresh, kRandomPick, kPropose, kAccept, kResample };

// The same decisions of the same sketch.
std::vector<int64_t> KeyOf(const Candidate& candidate) {
  std::vector<int64_t> key{candidate.sketch};
  for (const Decision& decision : candidate.decisions)
    key.insert(key.end(), decision.begin(), decision.end());
  return key;
}

}  // namespace

// The candidates of a round with the lowest energies, each once.
class Population::Archive {
 public:
  explicit Archive(int size) : size_(static_cast<size_t>(size)) {}

  // False if the candidate has been here before.
  bool Add(const Point& point, double energy) {
    Candidate candidate = CandidateOf(point, energy);
    if (!known_.insert(KeyOf(candidate)).second) return false;
    if (energy >= worst_) return true;
    entries_.push_back(std::move(candidate));
    if (entries_.size() >= 2 * size_) Shrink();
    return true;
  }

  std::vector<Candidate> Take() {
    Shrink();
    return std::move(entries_);
  }

 private:
  void Shrink() {
    std::sort(entries_.begin(), entries_.end(), [](const Candidate& a, const Candidate& b) {
      return std::tie(a.energy, a.sketch, a.decisions) < std::tie(b.energy, b.sketch, b.decisions);
    });
    if (entries_.size() <= size_) return;
    entries_.resize(size_);
    worst_ = entries_.back().energy;
  }

  size_t size_;
  std::vector<Candidate> entries_;
  double worst_ = std::numeric_limits<double>::infinity();
  absl::flat_hash_set<std::vector<int64_t>> known_;
};

Population::Population(const SearchSpace& space, const PopulationOptions& options, uint64_t seed, int task,
                       ThreadPool& pool)
    : space_(space),
      options_(options),
      seed_(seed),
      task_(static_cast<uint64_t>(task)),
      pool_(pool),
      temperature_(std::numeric_limits<double>::infinity()) {
  for (int i = 0; i < pool.threads(); ++i) judges_.push_back(space.make_judge());
}

// The first try of draw `index` is of the next sketch in turn, so that each has its share of a round's draws;
// over all indices this leaves the distribution what it is.
absl::StatusOr<Point> Population::DrawValid(uint64_t round, uint64_t index, uint64_t purpose,
                                            int thread) const {
  RandomDice dice(Engine{seed_, task_, round, index, 0, purpose});
  absl::Status last;
  for (int i = 0; i < kTriesPerDraw; ++i) {
    std::optional<int> sketch;
    if (i == 0) sketch = static_cast<int>((round + index) % space_.sketches.size());
    absl::StatusOr<Point> point = DrawPoint(space_, judges_[thread], dice, sketch);
    if (point.ok()) return point;
    last = point.status();
  }
  return absl::FailedPreconditionError(
      absl::StrCat("none of ", kTriesPerDraw,
                   " draws from the space gives a program that may be measured; the last: ", last.message()));
}

absl::Status Population::DrawPrior() {
  std::vector<absl::StatusOr<Point>> drawn(options_.chains, absl::UnknownError(""));
  pool_.For(options_.chains, [&](int i, int thread) { drawn[i] = DrawValid(0, i, kPrior, thread); });
  for (absl::StatusOr<Point>& point : drawn) {
    if (!point.ok()) return point.status();
    prior_.push_back(std::make_shared<const Point>(*std::move(point)));
  }
  return absl::OkStatus();
}

absl::Status Population::Start() {
  const absl::Status status = DrawPrior();
  for (const auto& point : prior_) chains_.push_back({point, 0});
  return status;
}

std::optional<Candidate> Population::Draw(int round, int index) const {
  const absl::StatusOr<Point> point = DrawValid(round, index, kRandomPick, 0);
  if (!point.ok()) return std::nullopt;
  return CandidateOf(*point, 0);
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
    absl::StatusOr<Point> point = PointOf(space_, judges_[0], candidate);
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
  Engine engine{seed_, task_, static_cast<uint64_t>(round), 0, static_cast<uint64_t>(step), kResample};
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
  const Carried carried = CarryOver(old, *energies, temperature_);
  for (size_t i = 0; i < chains_.size(); ++i) chains_[i].energy = (*energies)[i];
  temperature_ = carried.temperature;
  Resample(round, 0, carried.log_weights);
  return absl::OkStatus();
}

absl::Status Population::Restart(int round, const CostModel& model, absl::Span<const Candidate> best,
                                 Archive& archive) {
  const int chains = static_cast<int>(chains_.size());
  const int from_best =
      std::min(static_cast<int>(best.size()), static_cast<int>(options_.from_best * chains));
  const int from_prior = static_cast<int>(options_.from_prior * chains);
  std::vector<absl::StatusOr<Point>> starts(from_best + from_prior, absl::UnknownError(""));
  pool_.For(from_best + from_prior, [&](int i, int thread) {
    starts[i] =
        i < from_best ? PointOf(space_, judges_[thread], best[i]) : DrawValid(round, i, kFresh, thread);
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
    return Engine{seed_,
                  task_,
                  static_cast<uint64_t>(round),
                  static_cast<uint64_t>(chain),
                  static_cast<uint64_t>(step),
                  purpose};
  };
  std::vector<Move> moves(chains);
  pool_.For(chains, [&](int i, int thread) {
    RandomDice dice(engine(i, kPropose));
    moves[i] = Propose(space_, judges_[thread], *chains_[i].at, options_.structure, dice);
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
    RandomDice dice(engine(i, kAccept));
    if (!Accept(moves[i], chains_[i].energy, energy, temperature_, dice)) continue;
    chains_[i] = {moves[i].to, energy};
    ++stats_.accepted;
  }
  return absl::OkStatus();
}

absl::StatusOr<std::vector<Candidate>> Population::Round(int round, const CostModel& model,
                                                         absl::Span<const Candidate> best,
                                                         const std::atomic<bool>* stop) {
  stats_ = {};
  Archive archive(options_.archive);
  absl::Status status = Reweigh(round, model);
  if (status.ok()) status = Restart(round, model, best, archive);
  if (!status.ok()) return status;
  for (const Chain& chain : chains_) archive.Add(*chain.at, chain.energy);
  for (int step = 1; step <= options_.steps; ++step) {
    if (stop != nullptr && *stop) return absl::CancelledError("stopped");
    if ((step - 1) % options_.steps_per_stage == 0) {
      std::vector<double> energies;
      for (const Chain& chain : chains_) energies.push_back(chain.energy);
      const double colder = NextTemperature(energies, temperature_, options_.floor);
      if (colder < temperature_) {
        for (double& e : energies) e *= -(1 / colder - 1 / temperature_);
        temperature_ = colder;
        Resample(round, step, energies);
      }
    }
    status = Step(round, step, model, archive);
    if (!status.ok()) return status;
  }
  stats_.temperature = temperature_;
  return archive.Take();
}

}  // namespace kiln
