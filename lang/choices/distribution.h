// The distributions of sampling sites (design D4): exact support, prior, log probability and proposal.
//
// A small value, cheap to copy and to compare; a site's distribution is made anew from the program each time
// the site is reached.
#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "absl/container/inlined_vector.h"
#include "absl/types/span.h"
#include "lang/base/random.h"

namespace kiln {

// What a site decides: factors, outermost first, or one value.
using Decision = absl::InlinedVector<int64_t, 4>;

struct TileBounds;

class Distribution {
 public:
  enum class Kind : uint8_t { kPerfectTile, kBoundedTile, kCeilTile, kDiscrete, kListed };

  // Uniform over the ordered factorizations of extent into `parts` factors whose last is at most `innermost`
  // (0: any). Drawn exactly: the last factor with the number of ways to complete it as weight, then for each
  // prime of the rest a uniform composition of its exponent (NeurIPS'22, section 3.2 names the variable; the
  // closed form is ours).
  static Distribution PerfectTile(int64_t extent, int parts, int64_t innermost);
  // Uniform over those ordered factorizations of extent whose suffix products keep their bounds: the product
  // of the last i+1 factors is at most most[i] (0: any) and a multiple of multiple[i] (0: any); both lists
  // have `parts` numbers. Drawn exactly, by the number of chains of divisors that complete each (dynamic
  // programming, memoized). The support may be empty: see SupportSize.
  static Distribution BoundedTile(int64_t extent, int parts, absl::Span<const int64_t> most,
                                  absl::Span<const int64_t> multiple);
  // Tiles that need not divide the extent: `parts` factors whose first is ceil(extent / the product of the
  // others), with a product of at most extent * (1 + waste), and bounds as above on the others. Half of the
  // time uniform over those that divide the extent (where there are any), else uniform over all whose product
  // of the others is at most kCeilReach: what both may give has the sum of both probabilities.
  static Distribution CeilTile(int64_t extent, int parts, double waste, absl::Span<const int64_t> most,
                               absl::Span<const int64_t> multiple);
  static constexpr int64_t kCeilReach = int64_t{1} << 16;
  // values[i] with probability weights[i] / Σ weights. Values are distinct, weights positive.
  static Distribution Discrete(absl::Span<const int64_t> values, absl::Span<const double> weights);
  static Distribution Uniform(absl::Span<const int64_t> values);
  // A distribution given that one of `decisions`, listed one after the other, is drawn. Those outside of its
  // support are left out; the support may be empty.
  static Distribution Only(const Distribution& of, absl::Span<const int64_t> decisions);

  Kind kind() const { return kind_; }
  bool Contains(absl::Span<const int64_t> decision) const;
  // Number of decisions with positive probability, exact up to 2^53. 0 if nothing keeps the bounds; then
  // there is nothing to draw.
  double SupportSize() const;
  // -infinity outside of the support.
  double LogProb(absl::Span<const int64_t> decision) const;
  Decision Sample(Dice& dice) const;

  // A neighbour of `current`, with the log probability K(to | current) of the way there and K(current | to)
  // of the way back. Never returns current when the support has another decision. Perfect tiles move a
  // divisor of one factor to another, keeping the bounds; discrete ones draw among the other values by
  // weight. Ceil tiles take, half of the time, a tile that differs by a little in one of the factors after
  // the first, or by a prime that moved between two of them; else another one from the prior.
  struct Proposal {
    Decision to;
    double log_forward = 0, log_backward = 0;
  };
  Proposal Propose(absl::Span<const int64_t> current, Dice& dice) const;

  // Calls `visit` for each decision of the support, in a fixed order.
  void ForEach(const std::function<void(const Decision&)>& visit) const;

  // "perfect-tile 1024 4 64"; for messages.
  std::string ToString() const;

  friend bool operator==(const Distribution& a, const Distribution& b) {
    return a.kind_ == b.kind_ && a.extent_ == b.extent_ && a.parts_ == b.parts_ &&
           a.innermost_ == b.innermost_ && a.waste_ == b.waste_ && a.values_ == b.values_ &&
           a.weights_ == b.weights_;
  }

 private:
  TileBounds bounds() const;
  // Of those listed, the index of a decision; their number if it is not among them.
  size_t IndexOf(absl::Span<const int64_t> decision) const;
  Decision Listed(size_t index) const;
  bool lists() const { return kind_ == Kind::kDiscrete || kind_ == Kind::kListed; }
  double PerfectShare() const;
  Proposal ProposeCeil(absl::Span<const int64_t> current, Dice& dice) const;

  Kind kind_ = Kind::kDiscrete;
  int64_t extent_ = 1, parts_ = 1, innermost_ = 0;
  double waste_ = 0;
  absl::InlinedVector<int64_t, 6> values_;  // of tiles: the bounds, then the multiples; listed: `parts_` each
  absl::InlinedVector<double, 6> weights_;
};

// Prime factors of n >= 1 with exponents, ascending; memoized per thread.
struct PrimePower {
  int64_t prime;
  int exponent;
};
absl::Span<const PrimePower> Factorize(int64_t n);
absl::Span<const int64_t> Divisors(int64_t n);  // ascending; memoized per thread

}  // namespace kiln
