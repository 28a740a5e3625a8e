#include "search/sampler/descent.h"
#include "search/strategies/strategies.h"

namespace kiln {
namespace {

// The strategy `annealed`: each round runs the chains of a population. In the last part of the trials
// (StrategyOptions::descent), once the model is trained, a round lists the neighbours of the two best programs instead.
class Annealed final : public Strategy {
 public:
  explicit Annealed(const StrategyContext& context)
      : c_(context),
        population_(context.space, context.options.population, context.seed, context.task, context.pool) {}

  absl::Status Start() override { return population_.Start(); }
  absl::Status Restore(const StrategyState& state) override {
    return population_.Restore({state.temperature, state.chains});
  }
  StrategyState Save() const override {
    Population::State state = population_.Save();
    return {.temperature = state.temperature, .chains = std::move(state.chains)};
  }
  RoundStats stats() const override { return stats_; }

  BatchOptions Batch(const ProposalContext& known) const override {
    const StrategyOptions& o = c_.options;
    if (Descends(known)) {
      return {.size = std::min(known.size, kDescentBatch),
              .random_share = 0,
              .neighbour_share = 0,
              .diversity = o.diversity};
    }
    return {.size = known.size,
            .random_share = known.trained ? o.random_share : o.first_random_share,
            .neighbour_share = known.trained ? o.neighbour_share : 0,
            .uncertainty_share = o.uncertainty_share,
            .diversity = o.diversity};
  }

  absl::StatusOr<std::vector<Candidate>> Propose(const ProposalContext& known) override {
    stats_ = {};
    if (known.model == nullptr) return std::vector<Candidate>();  // the whole batch is drawn from the prior
    if (Descends(known)) return Descend(known);
    std::vector<Candidate> best;
    for (const Measured* measured : known.fastest) {
      if (best.size() == kBest) break;
      best.push_back(measured->candidate);
    }
    absl::StatusOr<std::vector<Candidate>> found = population_.Round(
        known.round, *known.model, best, known.stop, c_.options.population.steps * known.size / kMinBatch);
    if (found.ok()) stats_ = population_.stats();
    return found;
  }

 private:
  static constexpr size_t kBest = 32;  // number of measured programs that chains start from
  // The batch size for which chains take PopulationOptions::steps steps. For other batch sizes, the number of steps is
  // proportional.
  static constexpr int kMinBatch = 16;
  static constexpr size_t kCentres = 2;     // number of programs whose neighbours the descent lists
  static constexpr int kDescentBatch = 12;  // small, because the next batch starts from what this one finds

  bool Descends(const ProposalContext& known) const {
    return known.model != nullptr && known.trained && known.done >= 1 - c_.options.descent &&
           !known.fastest.empty();
  }

  absl::StatusOr<std::vector<Candidate>> Descend(const ProposalContext& known) {
    std::vector<Candidate> centres;
    for (size_t i = 0; i < std::min(kCentres, known.fastest.size()); ++i)
      centres.push_back(known.fastest[i]->candidate);
    const DescentContext context{c_.space, c_.seed, c_.task, known.round, c_.pool};
    absl::StatusOr<std::vector<Candidate>> found = Neighbourhood(context, centres, *known.model);
    if (found.ok()) stats_.proposed = stats_.valid = static_cast<int64_t>(found->size());
    return found;
  }

  StrategyContext c_;
  Population population_;
  RoundStats stats_;
};

}  // namespace

std::unique_ptr<Strategy> MakeAnnealed(const StrategyContext& context) {
  return std::make_unique<Annealed>(context);
}

}  // namespace kiln
