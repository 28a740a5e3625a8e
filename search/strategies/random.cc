#include "search/sampler/prior.h"
#include "search/strategies/strategies.h"

namespace kiln {
namespace {

// The strategy `random`: proposes nothing, so that a draw from the prior fills every slot of a batch.
class Random final : public Strategy {
 public:
  explicit Random(const StrategyContext& context) : c_(context) {}

  absl::Status Start() override {
    return DrawPrior(c_.space, MakePrefilters(c_.space, c_.pool), 1, c_.seed, c_.task, c_.pool).status();
  }
  absl::Status Restore(const StrategyState&) override { return absl::OkStatus(); }
  StrategyState Save() const override { return {}; }
  bool UsesModel() const override { return false; }

  BatchOptions Batch(const ProposalContext& known) const override {
    return {.size = known.size, .random_share = 1, .neighbour_share = 0};
  }
  absl::StatusOr<std::vector<Candidate>> Propose(const ProposalContext&) override {
    return std::vector<Candidate>();
  }

 private:
  StrategyContext c_;
};

}  // namespace

std::unique_ptr<Strategy> MakeRandom(const StrategyContext& context) {
  return std::make_unique<Random>(context);
}

}  // namespace kiln
