#include <cmath>

#include "search/purposes.h"
#include "search/sampler/prior.h"
#include "search/strategies/strategies.h"

namespace kiln {
namespace {

constexpr double kColdest = 1e-5;

// The strategy `simulated-annealing`: chains that persist from round to round and minimize what the model predicts. In
// each round of n steps their temperature falls linearly from 1 to 1/n. The prior and the ratio of proposals do not
// enter the acceptance.
class SimulatedAnnealing final : public Strategy {
 public:
  explicit SimulatedAnnealing(const StrategyContext& context)
      : c_(context), prefilters_(MakePrefilters(context.space, context.pool)) {}

  absl::Status Start() override {
    auto prior = DrawPrior(c_.space, prefilters_, c_.options.population.chains, c_.seed, c_.task, c_.pool);
    if (!prior.ok()) return prior.status();
    chains_ = prior_ = *std::move(prior);
    return absl::OkStatus();
  }

  absl::Status Restore(const StrategyState& state) override {
    if (const absl::Status status = Start(); !status.ok()) return status;
    chains_.clear();
    for (const Candidate& chain : state.chains) {
      absl::StatusOr<Point> point = PointOf(c_.space, prefilters_[0], chain);
      if (!point.ok()) return point.status();
      chains_.push_back(std::make_shared<const Point>(*std::move(point)));
    }
    return absl::OkStatus();
  }

  StrategyState Save() const override {
    StrategyState state;
    for (const auto& chain : chains_) state.chains.push_back(CandidateOf(*chain, 0));
    return state;
  }

  RoundStats stats() const override { return stats_; }

  BatchOptions Batch(const ProposalContext& known) const override {
    return {.size = known.size,
            .random_share = c_.options.random_share,
            .neighbour_share = 0,
            .diversity = c_.options.diversity};
  }

  absl::StatusOr<std::vector<Candidate>> Propose(const ProposalContext& known) override {
    stats_ = {};
    if (known.model == nullptr) return std::vector<Candidate>();
    absl::StatusOr<std::vector<double>> scores = Scores(*known.model, prior_);
    if (!scores.ok()) return scores.status();
    scale_ = ScaleOf(*std::move(scores));
    absl::StatusOr<std::vector<double>> energies = Scores(*known.model, chains_);
    if (!energies.ok()) return energies.status();
    Archive archive(c_.options.population.archive);
    for (size_t i = 0; i < chains_.size(); ++i) {
      (*energies)[i] = scale_.Energy((*energies)[i]);
      archive.Add(*chains_[i], (*energies)[i]);
    }
    const int steps = c_.options.population.steps * known.size / 16;
    for (int step = 0; step < steps; ++step) {
      if (known.stop != nullptr && *known.stop) return absl::CancelledError("stopped");
      const double temperature = std::max(kColdest, 1 - static_cast<double>(step) / steps);
      const absl::Status status = Walk(known, step, temperature, *energies, archive);
      if (!status.ok()) return status;
    }
    return archive.Take(*known.model, scale_.spread);
  }

 private:
  static absl::StatusOr<std::vector<double>> Scores(const CostModel& model,
                                                    const std::vector<std::shared_ptr<const Point>>& points) {
    FeatureBatch features;
    for (const auto& point : points) features.Append(point->features);
    return model.Predict(features);
  }

  absl::Status Walk(const ProposalContext& known, int step, double temperature, std::vector<double>& energies,
                    Archive& archive) {
    const int n = static_cast<int>(chains_.size());
    const auto dice = [&](int chain, Purpose purpose) {
      return RandomDice(EngineOf(c_.seed, c_.task, known.round, chain, step, purpose));
    };
    std::vector<std::shared_ptr<const Point>> moves(n), found;
    c_.pool.For(n, [&](int i, int thread) {
      RandomDice walk = dice(i, Purpose::kStrategy);
      moves[i] =
          kiln::Propose(c_.space, prefilters_[thread], *chains_[i], c_.options.population.structure, walk).to;
    });
    for (const auto& move : moves) {
      if (move != nullptr) found.push_back(move);
    }
    stats_.proposed += n;
    stats_.valid += static_cast<int64_t>(found.size());
    stats_.temperature = temperature;
    if (found.empty()) return absl::OkStatus();
    const absl::StatusOr<std::vector<double>> scores = Scores(*known.model, found);
    if (!scores.ok()) return scores.status();
    for (int i = 0, next = 0; i < n; ++i) {
      if (moves[i] == nullptr) continue;
      const double energy = scale_.Energy((*scores)[next++]);
      stats_.duplicates += !archive.Add(*moves[i], energy);
      RandomDice take = dice(i, Purpose::kTake);
      if (!take.Flip(std::min(1.0, std::exp((energies[i] - energy) / temperature)))) continue;
      chains_[i] = moves[i];
      energies[i] = energy;
      ++stats_.accepted;
    }
    return absl::OkStatus();
  }

  StrategyContext c_;
  std::vector<Prefilter> prefilters_;
  std::vector<std::shared_ptr<const Point>> prior_, chains_;
  EnergyScale scale_;
  RoundStats stats_;
};

}  // namespace

std::unique_ptr<Strategy> MakeSimulatedAnnealing(const StrategyContext& context) {
  return std::make_unique<SimulatedAnnealing>(context);
}

}  // namespace kiln
