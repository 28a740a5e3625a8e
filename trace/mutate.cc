#include "trace/mutate.h"
#include "lang/base/defect.h"

#include <cmath>

namespace kiln {
namespace {

// The chooser of a mutation. Returns the proposed decision `to` at the first site, and couples each later site with its
// old decision (Couple). Later sites are numbered as in the earlier replay.
class MutatingChooser final : public Chooser {
 public:
  MutatingChooser(const Replayed& from, int site, const Decision& to, Dice& dice)
      : from_(from), next_(site), to_(to), dice_(dice) {}
  Decision Choose(const Site& site) override {
    if (first_) {
      first_ = false;
      ++next_;
      return KILN_DEFECT("mutate.stays") ? from_.sites[next_ - 1].decision : to_;
    }
    const ReplayedSite& old = from_.sites[next_++];
    return Couple(old.distribution, old.decision, site.distribution, dice_);
  }
  int ChooseStructure(absl::string_view, int) override { return 0; }

 private:
  const Replayed& from_;
  int next_;
  const Decision& to_;
  Dice& dice_;
  bool first_ = true;
};

// The chooser of a move to another sketch. Couples the sites that both sketches have, with one name and primitive, with
// their old decisions (Couple), and draws all other sites from their priors.
class ChangingChooser final : public Chooser {
 public:
  ChangingChooser(const Replayed& from, const Trace& to, Dice& dice) : from_(from), to_(to), dice_(dice) {}
  Decision Choose(const Site& site) override {
    for (int i = 0; i < static_cast<int>(from_.sites.size()); ++i) {
      const ReplayedSite& old = from_.sites[i];
      if (from_.name(i) != site.name ||
          from_.trace->steps[old.step].primitive != to_.steps[site.step].primitive)
        continue;
      return Couple(old.distribution, old.decision, site.distribution, dice_);
    }
    return site.distribution.Sample(dice_);
  }
  int ChooseStructure(absl::string_view, int) override { return 0; }

 private:
  const Replayed& from_;
  const Trace& to_;
  Dice& dice_;
};

}  // namespace

Decision Couple(const Distribution& previous, const Decision& current, const Distribution& next, Dice& dice) {
  if (previous == next || KILN_DEFECT("mutate.keeps-all")) return current;
  if (dice.Flip(std::exp(next.LogProb(current) - previous.LogProb(current)))) return current;
  Decision drawn;
  dice.Until([&] {
    drawn = next.Sample(dice);
    return !dice.Flip(std::exp(previous.LogProb(drawn) - next.LogProb(drawn)));
  });
  return drawn;
}

absl::StatusOr<Proposal> Mutate(const Replayed& from, int site, Dice& dice) {
  const ReplayedSite& old = from.sites[site];
  const Distribution::Proposal proposed = old.distribution.Propose(old.decision, dice);
  MutatingChooser chooser(from, site, proposed.to, dice);
  absl::StatusOr<Replayed> to = ReplayFrom(from, site, chooser);
  if (!to.ok()) return to.status();
  const double log_prior_to = to->sites[site].log_prob;
  return Proposal{*std::move(to), proposed.log_forward, proposed.log_backward, old.log_prob, log_prior_to};
}

absl::StatusOr<Replayed> ChangeSketch(const Replayed& from, const Trace& to, const Program& program,
                                      Dice& dice, const ReplayOptions& options) {
  ChangingChooser chooser(from, to, dice);
  return Replay(to, program, *from.target, chooser, options);
}

}  // namespace kiln
