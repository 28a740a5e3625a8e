// Proposals of the search's Metropolis-Hastings step (design D8).
//
// A step changes the decision d of one site i to d', drawn by Distribution::Propose, and replays from the
// site's snapshot. Each later site, whose distribution may have changed from p to p', keeps its decision x
// with probability min(1, p'(x) / p(x)), and else draws from what p' has more than p: the maximal coupling of
// p and p'. If x ~ p then the new decision ~ p', and the joint law is symmetric: so the proposal's ratio for
// the later sites is that of their priors, and both cancel. What is left is
//
//   log p_i(d') + log_backward - log p_i(d) - log_forward
//
// A structural move takes the trace of another sketch; sites that both name, with the same primitive, are
// coupled in the same way, others are drawn from their priors, which cancel too.
//
// All randomness comes from `dice`. kFailedPrecondition: the program that is proposed does not exist (π = 0);
// the chain stays where it is.
#pragma once

#include "absl/status/statusor.h"
#include "trace/replay.h"

namespace kiln {

struct Proposal {
  Replayed to;
  double log_forward = 0, log_backward = 0;     // log K(d' | d), log K(d | d') at the site
  double log_prior_from = 0, log_prior_to = 0;  // log p_i(d), log p_i(d')
  // What log α gets besides energies and W: log p_i(d') + log K(d | d') - log p_i(d) - log K(d' | d).
  double LogRatio() const { return log_prior_to + log_backward - log_prior_from - log_forward; }
};

// The site must have more than one value and a snapshot.
absl::StatusOr<Proposal> Mutate(const Replayed& from, int site, Dice& dice);

// The same program under the trace of another sketch.
absl::StatusOr<Replayed> ChangeSketch(const Replayed& from, const Trace& to, const Program& program,
                                      Dice& dice, const ReplayOptions& options = {});

// A decision of `next` coupled maximally to `current`, which is one of `previous`.
Decision Couple(const Distribution& previous, const Decision& current, const Distribution& next, Dice& dice);

}  // namespace kiln
