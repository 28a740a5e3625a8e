#include "lang/choices/distribution.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>
#include <mutex>
#include <tuple>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "lang/base/check.h"
#include "lang/choices/tile_support.h"

namespace kiln {
namespace {

// Returns the number of ways to write `exponent` as an ordered sum of `parts` numbers >= 0.
double Compositions(int exponent, int parts) {
  if (parts == 0) return exponent == 0 ? 1 : 0;
  double ways = 1;  // C(exponent + parts - 1, parts - 1)
  for (int i = 1; i < parts; ++i) ways = ways * (exponent + i) / i;
  return std::round(ways);
}

// Returns the number of ways to write n as an ordered product of `parts` factors.
double Factorizations(int64_t n, int parts) {
  double ways = 1;
  for (const PrimePower& p : Factorize(n)) ways *= Compositions(p.exponent, parts);
  return ways;
}

// The possible last factors of the perfect tiles of (extent, parts, innermost), and for each how many tiles end in it.
// Computed once per thread and shared by all such distributions.
struct TileTable {
  std::vector<int64_t> last;
  std::vector<double> ways;
  double total = 0;
};

const TileTable& TableOf(int64_t extent, int64_t parts, int64_t innermost) {
  using Key = std::tuple<int64_t, int64_t, int64_t>;
  thread_local absl::flat_hash_map<Key, std::unique_ptr<const TileTable>> tables;
  std::unique_ptr<const TileTable>& slot = tables[Key(extent, parts, innermost)];
  if (slot == nullptr) {
    auto table = std::make_unique<TileTable>();
    for (const int64_t d : Divisors(extent)) {
      if (innermost > 0 && d > innermost) break;
      const double ways = Factorizations(extent / d, static_cast<int>(parts) - 1);
      if (ways == 0) continue;
      table->last.push_back(d);
      table->ways.push_back(ways);
      table->total += ways;
    }
    slot = std::move(table);
  }
  return *slot;
}

// Returns the divisors d > 1 of tile[x] by which factor x may be divided and factor y multiplied: the last factor stays
// at most `innermost` (0: no limit).
absl::Span<const int64_t> Movable(absl::Span<const int64_t> tile, size_t x, size_t y, int64_t innermost) {
  absl::Span<const int64_t> divisors = Divisors(tile[x]).subspan(1);
  if (y + 1 == tile.size() && innermost > 0) {
    const auto end = std::upper_bound(divisors.begin(), divisors.end(), innermost / tile[y]);
    divisors = divisors.first(end - divisors.begin());
  }
  return divisors;
}

int64_t CountMoves(absl::Span<const int64_t> tile, int64_t innermost) {
  int64_t moves = 0;
  for (size_t x = 0; x < tile.size(); ++x) {
    if (tile[x] == 1) continue;
    for (size_t y = 0; y < tile.size(); ++y) {
      if (x != y) moves += static_cast<int64_t>(Movable(tile, x, y, innermost).size());
    }
  }
  return moves;
}

constexpr double kNever = -std::numeric_limits<double>::infinity();

}  // namespace

absl::Span<const PrimePower> Factorize(int64_t n) {
  KILN_CHECK(n >= 1, "factors of ", n);
  thread_local absl::flat_hash_map<int64_t, std::unique_ptr<const std::vector<PrimePower>>> memo;
  auto& slot = memo[n];
  if (slot == nullptr) {
    std::vector<PrimePower> powers;
    for (int64_t p = 2; p * p <= n; ++p) {
      if (n % p != 0) continue;
      powers.push_back({p, 0});
      for (; n % p == 0; n /= p) ++powers.back().exponent;
    }
    if (n > 1) powers.push_back({n, 1});
    slot = std::make_unique<const std::vector<PrimePower>>(std::move(powers));
  }
  return *slot;
}

absl::Span<const int64_t> Divisors(int64_t n) {
  thread_local absl::flat_hash_map<int64_t, std::unique_ptr<const std::vector<int64_t>>> memo;
  auto& slot = memo[n];
  if (slot == nullptr) {
    std::vector<int64_t> divisors{1};
    for (const PrimePower& p : Factorize(n)) {
      const size_t known = divisors.size();
      int64_t power = 1;
      for (int e = 0; e < p.exponent; ++e) {
        power *= p.prime;
        for (size_t i = 0; i < known; ++i) divisors.push_back(divisors[i] * power);
      }
    }
    std::sort(divisors.begin(), divisors.end());
    slot = std::make_unique<const std::vector<int64_t>>(std::move(divisors));
  }
  return *slot;
}

Distribution Distribution::PerfectTile(int64_t extent, int parts, int64_t innermost) {
  KILN_CHECK(extent >= 1 && parts >= 2, extent, " in ", parts, " parts");
  Distribution d;
  d.kind_ = Kind::kPerfectTile;
  d.extent_ = extent;
  d.parts_ = parts;
  d.innermost_ = innermost;
  return d;
}

Distribution Distribution::BoundedTile(int64_t extent, int parts, absl::Span<const int64_t> most,
                                       absl::Span<const int64_t> multiple) {
  KILN_CHECK(extent >= 1 && parts >= 1 && most.size() == static_cast<size_t>(parts) &&
                 multiple.size() == most.size(),
             extent, " in ", parts, " parts");
  Distribution d;
  d.kind_ = Kind::kBoundedTile;
  d.extent_ = extent;
  d.parts_ = parts;
  d.values_.assign(most.begin(), most.end());
  d.values_.insert(d.values_.end(), multiple.begin(), multiple.end());
  return d;
}

Distribution Distribution::CeilTile(int64_t extent, int parts, double waste, absl::Span<const int64_t> most,
                                    absl::Span<const int64_t> multiple) {
  KILN_CHECK(parts >= 2 && waste >= 0 && waste <= 16, parts, " parts, waste ", waste);
  Distribution d = BoundedTile(extent, parts, most, multiple);
  d.kind_ = Kind::kCeilTile;
  d.waste_ = waste;
  d.values_[parts - 1] = d.values_[2 * parts - 1] = 0;
  return d;
}

Distribution Distribution::Discrete(absl::Span<const int64_t> values, absl::Span<const double> weights) {
  KILN_CHECK(!values.empty() && values.size() == weights.size());
  Distribution d;
  d.values_.assign(values.begin(), values.end());
  d.weights_.assign(weights.begin(), weights.end());
  return d;
}

Distribution Distribution::Uniform(absl::Span<const int64_t> values) {
  return Discrete(values, std::vector<double>(values.size(), 1.0));
}

Distribution Distribution::Only(const Distribution& of, absl::Span<const int64_t> decisions) {
  Distribution d;
  d.kind_ = Kind::kListed;
  d.parts_ = of.kind_ == Kind::kDiscrete ? 1 : of.parts_;
  const auto parts = static_cast<size_t>(d.parts_);
  const bool uniform = of.kind_ == Kind::kPerfectTile || of.kind_ == Kind::kBoundedTile;
  const double weight = uniform ? std::exp(-std::log(of.SupportSize())) : 0;  // as of.LogProb says
  absl::flat_hash_set<absl::Span<const int64_t>> seen;
  for (size_t i = 0; i + parts <= decisions.size(); i += parts) {
    const auto decision = decisions.subspan(i, parts);
    if (!of.Contains(decision) || !seen.insert(decision).second) continue;
    d.values_.insert(d.values_.end(), decision.begin(), decision.end());
    d.weights_.push_back(uniform ? weight : std::exp(of.LogProb(decision)));
  }
  return d;
}

Decision Distribution::Listed(size_t index) const {
  const auto first = values_.begin() + static_cast<int64_t>(index) * parts_;
  return Decision(first, first + parts_);
}

size_t Distribution::IndexOf(absl::Span<const int64_t> decision) const {
  size_t i = 0;
  while (i < weights_.size() && absl::MakeConstSpan(values_).subspan(i * parts_, parts_) != decision) ++i;
  return i;
}

TileBounds Distribution::bounds() const {
  const auto values = absl::MakeConstSpan(values_);
  return {extent_, static_cast<int>(parts_), values.first(parts_), values.last(parts_), waste_};
}

bool Distribution::Contains(absl::Span<const int64_t> decision) const {
  switch (kind_) {
    case Kind::kDiscrete:
    case Kind::kListed:
      return IndexOf(decision) < weights_.size();
    case Kind::kBoundedTile:
      return IsBoundedTile(bounds(), decision);
    case Kind::kCeilTile:
      return IsBoundedTile(bounds(), decision) || IsCeilTile(bounds(), decision);
    case Kind::kPerfectTile:
      break;
  }
  if (decision.size() != static_cast<size_t>(parts_)) return false;
  int64_t rest = extent_;
  for (const int64_t factor : decision) {
    if (factor < 1 || rest % factor != 0) return false;
    rest /= factor;
  }
  return rest == 1 && (innermost_ <= 0 || decision.back() <= innermost_);
}

double Distribution::SupportSize() const {
  switch (kind_) {
    case Kind::kDiscrete:
    case Kind::kListed:
      return static_cast<double>(weights_.size());
    case Kind::kBoundedTile:
      return CountBoundedTiles(bounds());
    case Kind::kCeilTile: {
      // Counts the ceil tiles, and the perfect tiles that are not ceil tiles: those whose factors after the
      // first have a product above kCeilReach.
      std::vector<int64_t> near(values_.begin(), values_.begin() + parts_);
      int64_t& inner = near[parts_ - 2];
      inner = inner > 0 ? std::min(inner, kCeilReach) : kCeilReach;
      TileBounds within = bounds();
      within.most = near;
      return CountCeilTiles(bounds()) + CountBoundedTiles(bounds()) - CountBoundedTiles(within);
    }
    case Kind::kPerfectTile:
      break;
  }
  return TableOf(extent_, parts_, innermost_).total;
}

double Distribution::LogProb(absl::Span<const int64_t> decision) const {
  if (!Contains(decision)) return kNever;
  if (kind_ == Kind::kPerfectTile || kind_ == Kind::kBoundedTile) return -std::log(SupportSize());
  if (kind_ == Kind::kCeilTile) {
    double own = 0;
    const double perfect = CountBoundedTiles(bounds()), first = PerfectShare();
    if (IsBoundedTile(bounds(), decision)) own += first / perfect;
    if (first < 1 && IsCeilTile(bounds(), decision)) own += (1 - first) / CountCeilTiles(bounds());
    return std::log(own);
  }
  double total = 0;
  for (const double weight : weights_) total += weight;
  return std::log(weights_[IndexOf(decision)] / total);
}

// Returns the probability with which a ceil tile is drawn from the tiles that divide the extent: 0 if there are none, 1
// if there are no tiles within kCeilReach to draw instead, else 1/2.
double Distribution::PerfectShare() const {
  if (CountBoundedTiles(bounds()) == 0) return 0;
  return CountCeilTiles(bounds()) == 0 ? 1 : 0.5;
}

Decision Distribution::Sample(Dice& dice) const {
  if (lists()) return Listed(dice.Pick(weights_));
  if (kind_ == Kind::kBoundedTile) return SampleBoundedTile(bounds(), dice);
  if (kind_ == Kind::kCeilTile) {
    return dice.Flip(PerfectShare()) ? SampleBoundedTile(bounds(), dice) : SampleCeilTile(bounds(), dice);
  }
  const TileTable& table = TableOf(extent_, parts_, innermost_);
  Decision tile(parts_, 1);
  tile.back() = table.last[dice.Pick(table.ways)];
  for (const PrimePower& power : Factorize(extent_ / tile.back())) {
    int left = power.exponent;
    for (int64_t part = 0; part + 2 < parts_ && left > 0; ++part) {
      // Draws how many of the `left` prime factors go to this part of the tile. A number has the weight of the ways to
      // distribute the rest over the later parts.
      absl::InlinedVector<double, 16> ways;
      for (int take = 0; take <= left; ++take) {
        ways.push_back(Compositions(left - take, static_cast<int>(parts_ - part) - 2));
      }
      const int take = dice.Pick(ways);
      for (int i = 0; i < take; ++i) tile[part] *= power.prime;
      left -= take;
    }
    for (int i = 0; i < left; ++i) tile[parts_ - 2] *= power.prime;
  }
  return tile;
}

Distribution::Proposal Distribution::Propose(absl::Span<const int64_t> current, Dice& dice) const {
  Proposal proposal;
  proposal.to.assign(current.begin(), current.end());
  if (lists()) {
    if (weights_.size() == 1) return proposal;
    absl::InlinedVector<double, 6> others = weights_;
    const size_t from = IndexOf(current);
    others[from] = 0;
    const int to = dice.Pick(others);
    double total = 0;
    for (const double w : weights_) total += w;
    proposal.to = Listed(to);
    proposal.log_forward = std::log(weights_[to] / (total - weights_[from]));
    proposal.log_backward = std::log(weights_[from] / (total - weights_[to]));
    return proposal;
  }
  if (kind_ == Kind::kBoundedTile) {
    std::vector<Decision> near;
    near.reserve(128);
    ForEachBoundedNeighbour(bounds(), current, [&](const Decision& to) { near.push_back(to); });
    if (near.empty()) return proposal;
    proposal.to = near[dice.Below(static_cast<int64_t>(near.size()))];
    int64_t back = 0;
    ForEachBoundedNeighbour(bounds(), proposal.to, [&](const Decision&) { ++back; });
    proposal.log_forward = -std::log(near.size());
    proposal.log_backward = -std::log(back);
    return proposal;
  }
  if (kind_ == Kind::kCeilTile) return ProposeCeil(current, dice);
  const int64_t moves = CountMoves(current, innermost_);
  if (moves == 0) return proposal;
  int64_t pick = dice.Below(moves);
  for (size_t x = 0; x < current.size(); ++x) {
    for (size_t y = 0; y < current.size() && current[x] > 1; ++y) {
      if (x == y) continue;
      const auto divisors = Movable(current, x, y, innermost_);
      if (pick >= 0 && pick < static_cast<int64_t>(divisors.size())) {
        proposal.to[x] /= divisors[pick];
        proposal.to[y] *= divisors[pick];
      }
      pick -= static_cast<int64_t>(divisors.size());
    }
  }
  proposal.log_forward = -std::log(static_cast<double>(moves));
  proposal.log_backward = -std::log(static_cast<double>(CountMoves(proposal.to, innermost_)));
  return proposal;
}

Distribution::Proposal Distribution::ProposeCeil(absl::Span<const int64_t> current, Dice& dice) const {
  Proposal proposal;
  proposal.to.assign(current.begin(), current.end());
  if (SupportSize() == 1) return proposal;
  const Decision from = proposal.to;
  const std::vector<Decision> near = CeilNeighbours(bounds(), from);
  if (!near.empty() && dice.Flip(0.5)) {
    proposal.to = near[dice.Below(static_cast<int64_t>(near.size()))];
  } else {
    dice.Until([&] {
      proposal.to = Sample(dice);
      return proposal.to != from;
    });
  }
  const std::vector<Decision> back = CeilNeighbours(bounds(), proposal.to);
  const auto kernel = [&](const Decision& a, const std::vector<Decision>& near_a, const Decision& b) {
    const double prior = std::exp(LogProb(b)) / -std::expm1(LogProb(a));
    if (near_a.empty()) return std::log(prior);
    const bool step = std::find(near_a.begin(), near_a.end(), b) != near_a.end();
    return std::log(0.5 * prior + (step ? 0.5 / static_cast<double>(near_a.size()) : 0));
  };
  proposal.log_forward = kernel(from, near, proposal.to);
  proposal.log_backward = kernel(proposal.to, back, from);
  return proposal;
}

void Distribution::ForEach(const std::function<void(const Decision&)>& visit) const {
  for (size_t i = 0; lists() && i < weights_.size(); ++i) visit(Listed(i));
  if (lists()) return;
  if (kind_ == Kind::kBoundedTile) return ForEachBoundedTile(bounds(), visit);
  if (kind_ == Kind::kCeilTile) {
    ForEachCeilTile(bounds(), visit);
    return ForEachBoundedTile(bounds(), [&](const Decision& tile) {
      if (!IsCeilTile(bounds(), tile)) visit(tile);
    });
  }
  Decision tile(parts_, 1);
  const std::function<void(int64_t, int64_t)> fill = [&](int64_t part, int64_t rest) {
    if (part + 1 == parts_) {
      tile[part] = rest;
      if (innermost_ <= 0 || rest <= innermost_) visit(tile);
      return;
    }
    for (const int64_t d : Divisors(rest)) {
      tile[part] = d;
      fill(part + 1, rest / d);
    }
  };
  fill(0, extent_);
}

std::string Distribution::ToString() const {
  if (lists()) return absl::StrCat("one of ", absl::StrJoin(values_, " "));
  std::string bound = innermost_ > 0 ? absl::StrCat(", the last at most ", innermost_) : "";
  for (int64_t i = 0; kind_ != Kind::kPerfectTile && i < parts_; ++i) {
    const std::string which = i == 0 ? "the last" : absl::StrCat("the product of the last ", i + 1);
    if (values_[i] > 0) absl::StrAppend(&bound, ", ", which, " at most ", values_[i]);
    if (values_[parts_ + i] > 1) absl::StrAppend(&bound, ", ", which, " a multiple of ", values_[parts_ + i]);
  }
  if (kind_ == Kind::kCeilTile) {
    return absl::StrCat(parts_, " factors that cover ", extent_, " and at most ", 100 * waste_, "% more",
                        bound);
  }
  return absl::StrCat(parts_, " factors of ", extent_, bound);
}

}  // namespace kiln
