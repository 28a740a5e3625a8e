// The distributions of sampling sites (design D4): exact support, prior, log probability and proposal.
//
// A small value, cheap to copy and to compare. The distribution of a site is computed from the program each
// time the site is reached.
#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "absl/container/inlined_vector.h"
#include "absl/types/span.h"
#include "lang/base/random.h"

namespace kiln {

// The value that a site decides: factors, outermost first, or a single value.
using Decision = absl::InlinedVector<int64_t, 4>;

struct TileBounds;

class Distribution {
 public:
  enum class Kind : uint8_t { kPerfectTile, kBoundedTile, kCeilTile, kDiscrete, kListed };

  // Returns a uniform distribution over the ordered factorizations of extent into `parts` >= 2 factors whose last
  // factor is at most `innermost` (0: no limit). The draw is exact. It weights the last factor by its number of
  // completions. Then the exponent of each remaining prime gets a uniform composition (NeurIPS'22, section 3.2 names
  // the variable; the closed form is ours).
  static Distribution PerfectTile(int64_t extent, int parts, int64_t innermost);
  // Returns a uniform distribution over the ordered factorizations of extent into `parts` factors within bounds: the
  // product of the last i+1 factors is at most most[i] and a multiple of multiple[i] (0: no bound). Both lists have
  // `parts` numbers. The draw is exact: memoized dynamic programming weights each factor by the number of divisor
  // chains that complete it. The support may be empty: see SupportSize.
  static Distribution BoundedTile(int64_t extent, int parts, absl::Span<const int64_t> most,
                                  absl::Span<const int64_t> multiple);
  // Returns a distribution of tiles that need not divide the extent: the first of `parts` >= 2 factors is ceil(extent /
  // product of the others). The product of all factors is at most extent * (1 + waste), with waste in 0 .. 16. The
  // factors after the first have bounds as in BoundedTile; the last number of both lists is ignored. With probability
  // 1/2 each, it draws uniformly from the tiles that divide the extent, or from all tiles whose factors after the first
  // have a product of at most kCeilReach. If one of these two sets is empty, it always draws from the other. A tile in
  // both sets has the sum of the two probabilities.
  static Distribution CeilTile(int64_t extent, int parts, double waste, absl::Span<const int64_t> most,
                               absl::Span<const int64_t> multiple);
  static constexpr int64_t kCeilReach = int64_t{1} << 16;
  // Discrete returns a distribution over single values, in which values[i] has the probability weights[i] / Σ weights.
  // Uniform returns one with equal weights. Values are distinct, weights positive.
  static Distribution Discrete(absl::Span<const int64_t> values, absl::Span<const double> weights);
  static Distribution Uniform(absl::Span<const int64_t> values);
  // Returns the distribution `of` under the condition that it draws one of `decisions`, a flat list of their numbers.
  // Decisions outside the support of `of` are left out, and duplicates count once. The support may become empty.
  static Distribution Only(const Distribution& of, absl::Span<const int64_t> decisions);

  Kind kind() const { return kind_; }
  bool Contains(absl::Span<const int64_t> decision) const;
  // Returns the number of decisions with positive probability, exact up to 2^53. Returns 0 if no decision
  // keeps the bounds; then nothing can be drawn.
  double SupportSize() const;
  // Returns the log probability of a decision: -infinity outside the support.
  double LogProb(absl::Span<const int64_t> decision) const;
  Decision Sample(Dice& dice) const;

  // Draws a neighbour `to` of `current` and returns it with the log probabilities K(to | current) and K(current | to).
  // Returns `current` with two zeros if the support has no other decision, and never otherwise. `current` must be in
  // the support. Perfect and bounded tiles move a divisor from one factor to another within the bounds; all such moves
  // are equally likely. Discrete and listed distributions draw among the other decisions by weight. Ceil tiles take,
  // half of the time, one of the CeilNeighbours (lang/choices/tile_support.h), equally likely. Otherwise, or if there
  // are none, they draw another tile from the prior.
  struct Proposal {
    Decision to;
    double log_forward = 0, log_backward = 0;
  };
  Proposal Propose(absl::Span<const int64_t> current, Dice& dice) const;

  // Calls `visit` for each decision of the support, in a fixed order.
  void ForEach(const std::function<void(const Decision&)>& visit) const;

  // Returns a text for messages, such as "4 factors of 1024, the last at most 64".
  std::string ToString() const;

  friend bool operator==(const Distribution& a, const Distribution& b) {
    return a.kind_ == b.kind_ && a.extent_ == b.extent_ && a.parts_ == b.parts_ &&
           a.innermost_ == b.innermost_ && a.waste_ == b.waste_ && a.values_ == b.values_ &&
           a.weights_ == b.weights_;
  }
  template <typename H>
  friend H AbslHashValue(H h, const Distribution& d) {
    return H::combine(std::move(h), d.kind_, d.extent_, d.parts_, d.innermost_, d.waste_, d.values_,
                      d.weights_);
  }

 private:
  TileBounds bounds() const;
  // Returns the position of a decision in the list of a discrete or listed distribution, or the length of the list if
  // the decision is not in it.
  size_t IndexOf(absl::Span<const int64_t> decision) const;
  Decision Listed(size_t index) const;
  bool lists() const { return kind_ == Kind::kDiscrete || kind_ == Kind::kListed; }
  double PerfectShare() const;
  Proposal ProposeCeil(absl::Span<const int64_t> current, Dice& dice) const;

  Kind kind_ = Kind::kDiscrete;
  int64_t extent_ = 1, parts_ = 1, innermost_ = 0;
  double waste_ = 0;
  absl::InlinedVector<int64_t, 6> values_;  // tiles: bounds, then multiples; listed: decisions in a row
  absl::InlinedVector<double, 6> weights_;
};

// Returns the prime factors of n >= 1 with exponents, ascending. Memoized per thread.
struct PrimePower {
  int64_t prime;
  int exponent;
};
absl::Span<const PrimePower> Factorize(int64_t n);
absl::Span<const int64_t> Divisors(int64_t n);  // ascending; memoized per thread

}  // namespace kiln
