// A strategy that measures the candidates of a list in order. It implements `replay` and `exhaustive`.
#pragma once

#include <functional>
#include <utility>
#include <vector>

#include "search/strategies/strategy.h"

namespace kiln {

class Listed final : public Strategy {
 public:
  // `list` returns the candidates to measure. It is called once, before the first round or when a run continues, and
  // must return the same list each time.
  explicit Listed(std::function<absl::StatusOr<std::vector<Candidate>>()> list) : list_(std::move(list)) {}

  absl::Status Start() override { return Restore({}); }
  absl::Status Restore(const StrategyState& state) override {
    absl::StatusOr<std::vector<Candidate>> all = list_();
    if (!all.ok()) return all.status();
    all_ = *std::move(all);
    next_ = static_cast<size_t>(state.next);
    return absl::OkStatus();
  }
  StrategyState Save() const override { return {.next = static_cast<int64_t>(next_)}; }

  BatchOptions Batch(const ProposalContext& known) const override {
    return {.size = known.size, .random_share = 0, .neighbour_share = 0, .diversity = 0, .fill = false};
  }
  absl::StatusOr<std::vector<Candidate>> Propose(const ProposalContext& known) override {
    std::vector<Candidate> proposed;
    while (HasMore() && static_cast<int>(proposed.size()) < known.size) proposed.push_back(all_[next_++]);
    return proposed;
  }
  bool HasMore() const override { return next_ < all_.size(); }
  bool UsesModel() const override { return false; }

 private:
  std::function<absl::StatusOr<std::vector<Candidate>>()> list_;
  std::vector<Candidate> all_;
  size_t next_ = 0;
};

}  // namespace kiln
