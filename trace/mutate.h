// Proposals of the search's Metropolis-Hastings step (design D8).
//
// A step changes the decision d of one site i to d', drawn by Distribution::Propose, and replays from the
// site's snapshot. A later site's distribution may change from p to p'. The site keeps its decision x with
// probability min(1, p'(x) / p(x)). Otherwise it draws from the part of p' that exceeds p. This is the
// maximal coupling of p and p': if x has law p, the new decision has law p', and the joint law is symmetric.
// The proposal's ratio for the later sites therefore cancels against the ratio of their priors. The
// acceptance ratio keeps only
//
//   log p_i(d') + log_backward - log p_i(d) - log_forward
//
// A structural move takes the trace of another sketch. Sites that both sketches have, with the same name and
// primitive, are coupled in the same way. The others are drawn from their priors, which cancel too.
//
// All randomness comes from `dice`. kFailedPrecondition means that the proposed program does not exist
// (π = 0): the chain then keeps its state.
#pragma once

#include "absl/status/statusor.h"
#include "trace/replay.h"

namespace kiln {

struct Proposal {
  Replayed to;
  double log_forward = 0, log_backward = 0;     // log K(d' | d), log K(d | d') at the site
  double log_prior_from = 0, log_prior_to = 0;  // log p_i(d), log p_i(d')
  // Returns the log acceptance ratio without the energies and the probabilities of choosing the site: log p_i(d') + log
  // K(d | d') - log p_i(d) - log K(d' | d).
  double LogRatio() const { return log_prior_to + log_backward - log_prior_from - log_forward; }
};

// Proposes another decision at one site and replays from there. Couples the decision of each later site with its old
// one (Couple). The site must have more than one value and a snapshot.
absl::StatusOr<Proposal> Mutate(const Replayed& from, int site, Dice& dice);

// Proposes a move to another sketch: replays trace `to` on `program`. Sites that `from` has too, with the same name and
// primitive, are coupled with the decisions there (Couple). All others are drawn from their priors.
absl::StatusOr<Replayed> ChangeSketch(const Replayed& from, const Trace& to, const Program& program,
                                      Dice& dice, const ReplayOptions& options = {});

// Draws a decision from `next`, maximally coupled to `current`, which has law `previous`.
Decision Couple(const Distribution& previous, const Decision& current, const Distribution& next, Dice& dice);

}  // namespace kiln
