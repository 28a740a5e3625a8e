#include <cmath>

#include "absl/strings/str_cat.h"
#include "search/strategies/listed.h"
#include "search/strategies/strategies.h"

namespace kiln {
namespace {

// A chooser that enumerates all decisions of a sketch, like an odometer with a digit for each sampling step. Each run
// of the sketch takes the values that the digits select. Turn then advances the last digit that has values left, and
// drops all later digits, since their supports may depend on earlier ones.
class Odometer final : public Chooser {
 public:
  Decision Choose(const Site& site) override {
    if (at_ == supports_.size()) {
      supports_.emplace_back();
      digits_.push_back(0);
      site.distribution.ForEach([&](const Decision& value) { supports_.back().push_back(value); });
    }
    const std::vector<Decision>& support = supports_[at_];
    const size_t digit = digits_[at_++];
    return digit < support.size() ? support[digit] : Decision();
  }
  int ChooseStructure(absl::string_view, int) override { return 0; }

  // Advances to the next decisions of the sketch. Returns false if all have been visited.
  bool Turn() {
    at_ = 0;
    while (!digits_.empty() && ++digits_.back() >= supports_.back().size()) {
      digits_.pop_back();
      supports_.pop_back();
    }
    return !digits_.empty();
  }

 private:
  size_t at_ = 0;
  std::vector<size_t> digits_;
  std::vector<std::vector<Decision>> supports_;
};

absl::Status TooLarge(const std::string& size, int limit) {
  return absl::InvalidArgumentError(absl::StrCat("the space has ", size,
                                                 " programs; exhaustive search lists at most ", limit,
                                                 ": restrict its sites, or take another strategy"));
}

absl::StatusOr<std::vector<Candidate>> All(const SearchSpace& space, int limit) {
  if (space.support > limit) return TooLarge(absl::StrCat("about ", space.support), limit);
  const Prefilter prefilter = space.make_prefilter();
  std::vector<Candidate> all;
  absl::Status last;
  int64_t visited = 0;
  for (int k = 0; k < static_cast<int>(space.sketches.size()); ++k) {
    Odometer odometer;
    do {
      if (++visited > limit) return TooLarge(absl::StrCat("more than ", limit), limit);
      const absl::StatusOr<Replayed> replayed = space.Replay(k, odometer, /*snapshots=*/false);
      FeatureSet features;
      const absl::Status judged = replayed.ok() ? prefilter(*replayed, features) : replayed.status();
      if (!judged.ok()) {
        last = judged;
        continue;
      }
      all.push_back({k, {}, 0});
      for (const ReplayedSite& site : replayed->sites) all.back().decisions.push_back(site.decision);
    } while (odometer.Turn());
  }
  if (!all.empty()) return all;
  return absl::FailedPreconditionError(absl::StrCat(
      "none of the ", visited, " programs of the space may be measured; the last: ", last.message()));
}

}  // namespace

std::unique_ptr<Strategy> MakeExhaustive(const StrategyContext& context) {
  return std::make_unique<Listed>(
      [&space = context.space, limit = context.options.exhaustive_limit] { return All(space, limit); });
}

}  // namespace kiln
