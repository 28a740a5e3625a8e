#include "lang/choices/tile_support.h"

#include <algorithm>
#include <cmath>
#include <memory>

#include "absl/container/flat_hash_map.h"

namespace kiln {
namespace {

bool Keeps(const TileBounds& bounds, int level, int64_t product) {
  const int64_t most = bounds.most[level], multiple = bounds.multiple[level];
  return (most <= 0 || product <= most) && (multiple <= 1 || product % multiple == 0);
}

// A table for counting and drawing bounded tiles. ways[i][d] is the number of ways to complete a tile if the product of
// its last i+1 factors is divisors[d].
struct ChainTable {
  std::vector<int64_t> divisors;
  std::vector<std::vector<double>> ways;  // [level][divisor]
  double total = 0;
};

ChainTable CountChains(const TileBounds& bounds) {
  ChainTable table;
  table.divisors.assign(Divisors(bounds.extent).begin(), Divisors(bounds.extent).end());
  const size_t n = table.divisors.size();
  table.ways.assign(bounds.parts, std::vector<double>(n, 0));
  table.ways.back().back() = Keeps(bounds, bounds.parts - 1, bounds.extent) ? 1 : 0;
  for (int level = bounds.parts - 2; level >= 0; --level) {
    for (size_t d = 0; d < n; ++d) {
      if (!Keeps(bounds, level, table.divisors[d])) continue;
      for (size_t next = d; next < n; ++next) {
        if (table.divisors[next] % table.divisors[d] == 0)
          table.ways[level][d] += table.ways[level + 1][next];
      }
    }
  }
  for (const double ways : table.ways[0]) table.total += ways;
  return table;
}

// The possible products of a ceil tile's factors after the first, each with the number of tiles that have it.
struct CeilTable {
  std::vector<int64_t> inner;
  std::vector<double> ways;
  double total = 0;
};

int64_t MostPadded(const TileBounds& bounds) {
  return bounds.extent + static_cast<int64_t>(bounds.waste * static_cast<double>(bounds.extent));
}

bool WastesLittle(const TileBounds& bounds, int64_t inner) {
  return inner <= Distribution::kCeilReach &&
         (bounds.extent + inner - 1) / inner * inner <= MostPadded(bounds);
}

CeilTable CountCeil(const TileBounds& bounds) {
  const int64_t most = std::min(Distribution::kCeilReach, MostPadded(bounds));
  std::vector<double> chains(most + 1, 0);  // number of chains that end in each product, at the current level
  for (int64_t product = 1; product <= most; ++product) chains[product] = Keeps(bounds, 0, product) ? 1 : 0;
  for (int level = 1; level + 1 < bounds.parts; ++level) {
    std::vector<double> longer(most + 1, 0);
    for (int64_t product = 1; product <= most; ++product) {
      if (chains[product] == 0) continue;
      for (int64_t next = product; next <= most; next += product) longer[next] += chains[product];
    }
    for (int64_t product = 1; product <= most; ++product) {
      if (!Keeps(bounds, level, product)) longer[product] = 0;
    }
    chains.swap(longer);
  }
  CeilTable table;
  for (int64_t inner = 1; inner <= most; ++inner) {
    if (chains[inner] == 0 || !WastesLittle(bounds, inner)) continue;
    table.inner.push_back(inner);
    table.ways.push_back(chains[inner]);
    table.total += chains[inner];
  }
  return table;
}

template <typename Table>
const Table& Memo(const TileBounds& bounds, Table (*count)(const TileBounds&)) {
  using Key = absl::InlinedVector<int64_t, 20>;
  thread_local absl::flat_hash_map<Key, std::unique_ptr<const Table>> tables;
  Key key{bounds.extent, MostPadded(bounds)};
  key.insert(key.end(), bounds.most.begin(), bounds.most.end());
  key.insert(key.end(), bounds.multiple.begin(), bounds.multiple.end());
  std::unique_ptr<const Table>& slot = tables[key];
  if (slot == nullptr) slot = std::make_unique<const Table>(count(bounds));
  return *slot;
}

int64_t Product(absl::Span<const int64_t> factors) {
  int64_t product = 1;
  for (const int64_t factor : factors) {
    if (factor < 1 || factor > (int64_t{1} << 40) / product) return 0;
    product *= factor;
  }
  return product;
}

Decision WithFirst(const TileBounds& bounds, int64_t inner, const Decision& rest) {
  Decision tile{(bounds.extent + inner - 1) / inner};
  tile.insert(tile.end(), rest.begin(), rest.end());
  return tile;
}

Decision SampleChain(const TileBounds& bounds, const ChainTable& table, Dice& dice) {
  Decision tile(bounds.parts, 1);
  int64_t product = 1;
  std::vector<double> weights;
  for (int level = 0; level < bounds.parts; ++level) {
    weights = table.ways[level];
    for (size_t d = 0; d < weights.size(); ++d) {
      if (table.divisors[d] % product != 0) weights[d] = 0;
    }
    const int64_t next = table.divisors[dice.Pick(weights)];
    tile[bounds.parts - 1 - level] = next / product;
    product = next;
  }
  return tile;
}

}  // namespace

bool IsBoundedTile(const TileBounds& bounds, absl::Span<const int64_t> tile) {
  if (static_cast<int>(tile.size()) != bounds.parts) return false;
  int64_t product = 1;
  for (int level = 0; level < bounds.parts; ++level) {
    const int64_t factor = tile[bounds.parts - 1 - level];
    if (factor < 1 || __builtin_mul_overflow(product, factor, &product) || product > bounds.extent ||
        !Keeps(bounds, level, product))
      return false;
  }
  return product == bounds.extent;
}

double CountBoundedTiles(const TileBounds& bounds) { return Memo(bounds, CountChains).total; }

Decision SampleBoundedTile(const TileBounds& bounds, Dice& dice) {
  return SampleChain(bounds, Memo(bounds, CountChains), dice);
}

void ForEachBoundedTile(const TileBounds& bounds, const std::function<void(const Decision&)>& visit) {
  const ChainTable& table = Memo(bounds, CountChains);
  Decision tile(bounds.parts, 1);
  const std::function<void(int, int64_t)> fill = [&](int level, int64_t product) {
    if (level == bounds.parts) return visit(tile);
    for (size_t d = 0; d < table.divisors.size(); ++d) {
      if (table.ways[level][d] == 0 || table.divisors[d] % product != 0) continue;
      tile[bounds.parts - 1 - level] = table.divisors[d] / product;
      fill(level + 1, table.divisors[d]);
    }
  };
  fill(0, 1);
}

void ForEachBoundedNeighbour(const TileBounds& bounds, absl::Span<const int64_t> tile,
                             absl::FunctionRef<void(const Decision&)> visit) {
  Decision to(tile.begin(), tile.end());
  for (size_t x = 0; x < tile.size(); ++x) {
    for (const int64_t d : Divisors(tile[x]).subspan(1)) {
      to[x] = tile[x] / d;
      for (size_t y = 0; y < tile.size(); ++y) {
        if (x == y) continue;
        to[y] = tile[y] * d;
        if (IsBoundedTile(bounds, to)) visit(to);
        to[y] = tile[y];
      }
    }
    to[x] = tile[x];
  }
}

bool IsCeilTile(const TileBounds& bounds, absl::Span<const int64_t> tile) {
  if (static_cast<int>(tile.size()) != bounds.parts) return false;
  const int64_t inner = Product(tile.subspan(1));
  return inner > 0 && WastesLittle(bounds, inner) && tile[0] == (bounds.extent + inner - 1) / inner &&
         IsBoundedTile(bounds.Inner(inner), tile.subspan(1));
}

double CountCeilTiles(const TileBounds& bounds) { return Memo(bounds, CountCeil).total; }

Decision SampleCeilTile(const TileBounds& bounds, Dice& dice) {
  const CeilTable& table = Memo(bounds, CountCeil);
  const int64_t inner = table.inner[dice.Pick(table.ways)];
  // Counts the ways for this product anew: there are many such products and each is rare, so their tables are not
  // memoized.
  const TileBounds rest = bounds.Inner(inner);
  return WithFirst(bounds, inner, SampleChain(rest, CountChains(rest), dice));
}

void ForEachCeilTile(const TileBounds& bounds, const std::function<void(const Decision&)>& visit) {
  for (const int64_t inner : Memo(bounds, CountCeil).inner) {
    ForEachBoundedTile(bounds.Inner(inner),
                       [&](const Decision& rest) { visit(WithFirst(bounds, inner, rest)); });
  }
}

std::vector<Decision> CeilNeighbours(const TileBounds& bounds, absl::Span<const int64_t> tile) {
  std::vector<Decision> neighbours;
  const int64_t inner = Product(tile.subspan(1));
  if (!IsCeilTile(bounds, tile)) return neighbours;
  const auto add = [&](const Decision& to) {
    if (IsCeilTile(bounds, to) && !std::equal(to.begin(), to.end(), tile.begin()) &&
        std::find(neighbours.begin(), neighbours.end(), to) == neighbours.end()) {
      neighbours.push_back(to);
    }
  };
  for (size_t x = 1; x < tile.size(); ++x) {
    for (const int64_t factor : {tile[x] - 1, tile[x] + 1, tile[x] * 2, tile[x] % 2 == 0 ? tile[x] / 2 : 0}) {
      if (factor < 1) continue;
      Decision rest(tile.begin() + 1, tile.end());
      rest[x - 1] = factor;
      add(WithFirst(bounds, inner / tile[x] * factor, rest));
    }
    for (const PrimePower& prime : Factorize(tile[x])) {
      for (size_t y = 1; y < tile.size(); ++y) {
        Decision to(tile.begin(), tile.end());
        to[x] /= prime.prime;
        to[y] *= prime.prime;
        add(to);
      }
    }
  }
  return neighbours;
}

}  // namespace kiln
