#include "lang/distribution.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>
#include <mutex>
#include <tuple>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "lang/check.h"

namespace kiln {
namespace {

// Ways to write `exponent` as an ordered sum of `parts` numbers >= 0.
double Compositions(int exponent, int parts) {
  if (parts == 0) return exponent == 0 ? 1 : 0;
  double ways = 1;  // C(exponent + parts - 1, parts - 1)
  for (int i = 1; i < parts; ++i) ways = ways * (exponent + i) / i;
  return std::round(ways);
}

// Ways to write n as an ordered product of `parts` factors.
double Factorizations(int64_t n, int parts) {
  double ways = 1;
  for (const PrimePower& p : Factorize(n)) ways *= Compositions(p.exponent, parts);
  return ways;
}

std::vector<int64_t> Divisors(int64_t n) {
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
  return divisors;
}

// What perfect tiles of (extent, parts, innermost) share: the possible last factors, each with the number of
// its completions.
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

const std::vector<int64_t>& DivisorsOf(int64_t n) {
  thread_local absl::flat_hash_map<int64_t, std::unique_ptr<const std::vector<int64_t>>> memo;
  auto& slot = memo[n];
  if (slot == nullptr) slot = std::make_unique<const std::vector<int64_t>>(Divisors(n));
  return *slot;
}

// Divisors d > 1 of tile[x] that may move to factor y.
absl::Span<const int64_t> Movable(absl::Span<const int64_t> tile, size_t x, size_t y, int64_t innermost) {
  absl::Span<const int64_t> divisors = absl::MakeConstSpan(DivisorsOf(tile[x])).subspan(1);
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

Distribution Distribution::PerfectTile(int64_t extent, int parts, int64_t innermost) {
  KILN_CHECK(extent >= 1 && parts >= 2, extent, " in ", parts, " parts");
  Distribution d;
  d.kind_ = Kind::kPerfectTile;
  d.extent_ = extent;
  d.parts_ = parts;
  d.innermost_ = innermost;
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

bool Distribution::Contains(absl::Span<const int64_t> decision) const {
  if (kind_ == Kind::kDiscrete) {
    return decision.size() == 1 && std::find(values_.begin(), values_.end(), decision[0]) != values_.end();
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
  return kind_ == Kind::kDiscrete ? static_cast<double>(values_.size())
                                  : TableOf(extent_, parts_, innermost_).total;
}

double Distribution::LogProb(absl::Span<const int64_t> decision) const {
  if (!Contains(decision)) return kNever;
  if (kind_ == Kind::kPerfectTile) return -std::log(TableOf(extent_, parts_, innermost_).total);
  double total = 0, own = 0;
  for (size_t i = 0; i < values_.size(); ++i) {
    total += weights_[i];
    if (values_[i] == decision[0]) own = weights_[i];
  }
  return std::log(own / total);
}

Decision Distribution::Sample(Dice& dice) const {
  if (kind_ == Kind::kDiscrete) return {values_[dice.Pick(weights_)]};
  const TileTable& table = TableOf(extent_, parts_, innermost_);
  Decision tile(parts_, 1);
  tile.back() = table.last[dice.Pick(table.ways)];
  for (const PrimePower& power : Factorize(extent_ / tile.back())) {
    int left = power.exponent;
    for (int64_t part = 0; part + 2 < parts_ && left > 0; ++part) {
      // How much of the exponent this part takes, by the number of ways to place the rest.
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
  if (kind_ == Kind::kDiscrete) {
    if (values_.size() == 1) return proposal;
    absl::InlinedVector<double, 6> others = weights_;
    const size_t from = std::find(values_.begin(), values_.end(), current[0]) - values_.begin();
    others[from] = 0;
    const int to = dice.Pick(others);
    double total = 0;
    for (const double w : weights_) total += w;
    proposal.to[0] = values_[to];
    proposal.log_forward = std::log(weights_[to] / (total - weights_[from]));
    proposal.log_backward = std::log(weights_[from] / (total - weights_[to]));
    return proposal;
  }
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

void Distribution::ForEach(const std::function<void(const Decision&)>& visit) const {
  if (kind_ == Kind::kDiscrete) {
    for (const int64_t value : values_) visit({value});
    return;
  }
  Decision tile(parts_, 1);
  const std::function<void(int64_t, int64_t)> fill = [&](int64_t part, int64_t rest) {
    if (part + 1 == parts_) {
      tile[part] = rest;
      if (innermost_ <= 0 || rest <= innermost_) visit(tile);
      return;
    }
    for (const int64_t d : DivisorsOf(rest)) {
      tile[part] = d;
      fill(part + 1, rest / d);
    }
  };
  fill(0, extent_);
}

std::string Distribution::ToString() const {
  if (kind_ == Kind::kDiscrete) return absl::StrCat("one of ", absl::StrJoin(values_, " "));
  std::string bound = innermost_ > 0 ? absl::StrCat(", the last at most ", innermost_) : "";
  return absl::StrCat(parts_, " factors of ", extent_, bound);
}

}  // namespace kiln
