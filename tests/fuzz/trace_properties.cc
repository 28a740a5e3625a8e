#include "tests/fuzz/trace_properties.h"

#include <cmath>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "lang/text/hash.h"
#include "lang/text/text.h"
#include "tests/support/enumerating_dice.h"
#include "trace/mutate.h"
#include "trace/simplify.h"
#include "trace/text.h"

namespace kiln::fuzz {
namespace {

constexpr int kMaxOutcomes = 200;

Broken CheckText(const Trace& trace) {
  const std::string text = Print(trace);
  const absl::StatusOr<Trace> parsed = ParseTrace(text);
  if (!parsed.ok()) return {"trace text", std::string(parsed.status().message())};
  if (!(*parsed == trace) || Print(*parsed) != text || Hash(*parsed) != Hash(trace))
    return {"trace text", "what is printed parses as another trace"};
  return {};
}

Broken CheckReplay(const absl::StatusOr<Replayed>& replayed, const Program& now) {
  if (!replayed.ok()) return {"replay", std::string(replayed.status().message())};
  if (!Equal(replayed->program(), now) || kiln::ToString(replayed->program()) != kiln::ToString(now))
    return {"replay", "gives another program"};
  return {};
}

std::string Text(const Decision& decision) { return absl::StrJoin(decision, " "); }

// Checks a mutation. Sites before the mutated one keep their decisions, and the mutated one has another decision.
// Later sites keep theirs unless their distribution changed. Every decision must be in its support and have the
// probability of its distribution, and the proposal's ratio must be that of the probabilities.
Broken CheckProposal(const Replayed& from, int site, const Proposal& proposal) {
  const Replayed& to = proposal.to;
  if (to.sites.size() != from.sites.size()) return {"mutation", "the number of sites changed"};
  for (int i = 0; i < static_cast<int>(to.sites.size()); ++i) {
    const ReplayedSite &old = from.sites[i], &now = to.sites[i];
    const auto broken = [&](absl::string_view what) {
      return Broken{"mutation", absl::StrCat("of ", from.name(site), ": ", to.name(i), " ", what, ": ",
                                             Text(old.decision), " -> ", Text(now.decision))};
    };
    const bool kept = old.decision == now.decision;
    if (i < site && (!kept || !(old.distribution == now.distribution)))
      return broken("is before it, and changed");
    if (i == site && (kept || !(old.distribution == now.distribution)))
      return broken("is the site, and did not change");
    if (i > site && !kept && old.distribution == now.distribution) return broken("changed without a reason");
    if (!now.distribution.Contains(now.decision)) return broken("is not in the support");
    if (std::abs(now.log_prob - now.distribution.LogProb(now.decision)) > 1e-9)
      return broken("has another probability");
  }
  const ReplayedSite& at = from.sites[site];
  const double ratio = to.sites[site].log_prob - at.log_prob + proposal.log_backward - proposal.log_forward;
  if (!(std::abs(proposal.LogRatio() - ratio) < 1e-9)) return {"mutation", "its ratio is another"};
  return {};
}

Broken CheckMutation(const Replayed& from, const Program& program, const SymbolicOutputs& wanted,
                     Dice& dice) {
  std::vector<int> open;
  for (size_t i = 0; i < from.sites.size(); ++i) {
    if (from.sites[i].before != nullptr) open.push_back(static_cast<int>(i));
  }
  if (open.empty()) return {};
  const int site = open[dice.Below(static_cast<int64_t>(open.size()))];
  const absl::StatusOr<Proposal> proposal = Mutate(from, site, dice);
  if (!proposal.ok()) {
    const bool applies_not = proposal.status().code() == absl::StatusCode::kFailedPrecondition;
    if (applies_not && !absl::StrContains(proposal.status().message(), "check: support")) return {};
    return {"mutation", proposal.status().ToString()};
  }
  const Broken broken = CheckProposal(from, site, *proposal);
  if (broken) return broken;
  const Trace trace = WithDecisions(proposal->to);
  const Broken replayed = CheckReplay(Replay(trace, program, FuzzTarget()), proposal->to.program());
  if (replayed) return {"mutation", absl::StrCat("replay from the start ", replayed.message)};
  const absl::Status agrees = CheckSymbolic(proposal->to.program(), wanted);
  if (!agrees.ok()) return {"mutated shadow", absl::StrCat(agrees.message(), "\n", Print(trace))};
  return {};
}

// Checks over all outcomes of the dice that decisions are drawn as often as their log probability says. Checks nothing
// if there are more than 200 outcomes (kMaxOutcomes). Leaves out outcomes with which the trace does not replay.
Broken CheckPrior(const Trace& trace, const Program& program) {
  EnumeratingDice dice;
  std::map<std::vector<Decision>, std::pair<double, double>> drawn;  // frequency, probability
  int outcomes = 0;
  do {
    if (++outcomes > kMaxOutcomes) return {};
    RandomChooser chooser(dice);
    const absl::StatusOr<Replayed> replayed =
        Replay(trace, program, FuzzTarget(), chooser, {.snapshots = false});
    if (!replayed.ok()) continue;
    std::vector<Decision> decisions;
    for (const ReplayedSite& site : replayed->sites) decisions.push_back(site.decision);
    auto& [frequency, probability] = drawn[decisions];
    frequency += dice.probability();
    probability = std::exp(replayed->LogProb());
  } while (dice.Next());
  for (const auto& [decisions, pair] : drawn) {
    if (std::abs(pair.first - pair.second) < 1e-9) continue;
    return {"prior",
            absl::StrCat(absl::StrJoin(decisions, " | ",
                                       [](std::string* s, const Decision& d) { s->append(Text(d)); }),
                         " is drawn with probability ", pair.first, ", not ", pair.second)};
  }
  return {};
}

}  // namespace

Broken CheckTrace(const Trace& trace, const Program& program, const SymbolicOutputs& wanted,
                  const Program& now, uint64_t seed) {
  Broken broken = CheckText(trace);
  if (broken) return broken;
  const absl::StatusOr<Replayed> replayed = Replay(trace, program, FuzzTarget());
  broken = CheckReplay(replayed, now);
  if (broken) return broken;
  const Trace simple = Simplify(trace);
  broken = CheckReplay(Replay(simple, program, FuzzTarget()), now);
  if (broken) return {"simplify", broken.message};
  if (replayed->sites.empty()) return {};
  RandomDice dice(Engine({seed, 4}));
  broken = CheckMutation(*replayed, program, wanted, dice);
  if (broken || !dice.Flip(0.1)) return broken;
  return CheckPrior(trace, program);
}

}  // namespace kiln::fuzz
