#include <cmath>

#include "absl/container/flat_hash_map.h"
#include "search/purposes.h"
#include "search/sampler/prior.h"
#include "search/strategies/strategies.h"

namespace kiln {
namespace {

constexpr int kChildrenPerTrial = 4;

using Genes = absl::flat_hash_map<std::string, Decision>;  // by the name of a sampling step

// A chooser that combines the decisions of two parents, which it finds by the names of sampling steps. Takes the
// decision of a random parent, or the other parent's if the step's support does not have it. Draws from the prior with
// the probability of a mutation, and if neither decision fits.
class Crossover final : public Chooser {
 public:
  Crossover(const Genes& mother, const Genes& father, double mutation, Dice& dice)
      : parents_{&mother, &father}, mutation_(mutation), dice_(dice) {}

  Decision Choose(const Site& site) override {
    const int first = static_cast<int>(dice_.Below(2));
    if (!dice_.Flip(mutation_)) {
      for (const int parent : {first, 1 - first}) {
        const auto gene = parents_[parent]->find(site.name);
        if (gene != parents_[parent]->end() && site.distribution.Contains(gene->second)) return gene->second;
      }
    }
    return site.distribution.Sample(dice_);
  }
  int ChooseStructure(absl::string_view, int) override { return 0; }

 private:
  const Genes* parents_[2];
  double mutation_;
  Dice& dice_;
};

class Genetic final : public Strategy {
 public:
  explicit Genetic(const StrategyContext& context)
      : c_(context), prefilters_(MakePrefilters(context.space, context.pool)) {}

  absl::Status Start() override {
    return DrawPrior(c_.space, prefilters_, 1, c_.seed, c_.task, c_.pool).status();
  }
  absl::Status Restore(const StrategyState&) override { return absl::OkStatus(); }
  StrategyState Save() const override { return {}; }
  bool UsesModel() const override { return false; }
  RoundStats stats() const override { return stats_; }

  BatchOptions Batch(const ProposalContext& known) const override {
    return {.size = known.size, .random_share = 0, .neighbour_share = 0, .diversity = 0};
  }

  absl::StatusOr<std::vector<Candidate>> Propose(const ProposalContext& known) override {
    stats_ = {};
    std::vector<Candidate> proposed;
    if (known.fastest.size() < 2) return proposed;  // the first generation is drawn from the prior
    std::vector<const Measured*> parents = known.fastest;
    parents.resize(std::min<size_t>(parents.size(), c_.options.parents));
    std::vector<double> fitness;
    for (const Measured* parent : parents) fitness.push_back(parents[0]->seconds / parent->seconds);
    const int n = kChildrenPerTrial * known.size;
    std::vector<std::optional<Candidate>> children(n);
    c_.pool.For(n, [&](int i, int thread) {
      RandomDice dice(EngineOf(c_.seed, c_.task, known.round, i, 0, Purpose::kBreed));
      const Candidate& mother = parents[dice.Pick(fitness)]->candidate;
      const Candidate& father = parents[dice.Pick(fitness)]->candidate;
      children[i] = Child(mother, father, prefilters_[thread], dice);
    });
    stats_.proposed = n;
    for (std::optional<Candidate>& child : children) {
      if (!child) continue;
      ++stats_.valid;
      proposed.push_back(*std::move(child));
    }
    return proposed;
  }

 private:
  Genes GenesOf(const Candidate& candidate) const {
    Genes genes;
    size_t next = 0;
    for (const Step& step : c_.space.sketches[candidate.sketch].steps) {
      if (step.primitive->sampling && next < candidate.decisions.size())
        genes.emplace(step.site, candidate.decisions[next++]);
    }
    return genes;
  }

  // Returns a child of two candidates: the mother's sketch, with decisions of both parents. Returns nullopt if the
  // child may not be measured.
  std::optional<Candidate> Child(const Candidate& mother, const Candidate& father, const Prefilter& prefilter,
                                 Dice& dice) const {
    const Genes hers = GenesOf(mother), his = GenesOf(father);
    Crossover chooser(hers, his, c_.options.mutation, dice);
    const absl::StatusOr<Replayed> replayed = c_.space.Replay(mother.sketch, chooser, /*snapshots=*/false);
    FeatureSet features;
    if (!replayed.ok() || !prefilter(*replayed, features).ok()) return std::nullopt;
    Candidate child{mother.sketch, {}, 0};
    for (const ReplayedSite& site : replayed->sites) child.decisions.push_back(site.decision);
    return child;
  }

  StrategyContext c_;
  std::vector<Prefilter> prefilters_;
  RoundStats stats_;
};

}  // namespace

std::unique_ptr<Strategy> MakeGenetic(const StrategyContext& context) {
  return std::make_unique<Genetic>(context);
}

}  // namespace kiln
