// Counts and draws tiles under bounds. Private to the bounded and ceil tiles of lang/choices/distribution.h, which
// defines them. Counts are memoized per thread.
#pragma once

#include <functional>
#include <vector>

#include "absl/functional/function_ref.h"
#include "lang/choices/distribution.h"

namespace kiln {

struct TileBounds {
  int64_t extent = 1;
  int parts = 1;
  absl::Span<const int64_t> most, multiple;  // of the products of the last 1 .. parts factors; 0: no bound
  double waste = 0;                          // for ceil tiles

  // Returns the bounds for the factors after the first, as a tile of `inner`, their product.
  TileBounds Inner(int64_t inner) const {
    return {inner, parts - 1, most.first(parts - 1), multiple.first(parts - 1), 0};
  }
};

// Tests, counts, draws and visits bounded tiles: the ordered factorizations of the extent within the bounds.
bool IsBoundedTile(const TileBounds& bounds, absl::Span<const int64_t> tile);
double CountBoundedTiles(const TileBounds& bounds);
Decision SampleBoundedTile(const TileBounds& bounds, Dice& dice);
void ForEachBoundedTile(const TileBounds& bounds, const std::function<void(const Decision&)>& visit);
// Calls `visit` with each bounded tile that differs from `tile` by a divisor moved from one factor to another. Being
// such neighbors is symmetric, and all tiles are connected by a path of them.
void ForEachBoundedNeighbour(const TileBounds& bounds, absl::Span<const int64_t> tile,
                             absl::FunctionRef<void(const Decision&)> visit);

// Tests, counts, draws and visits ceil tiles: the first factor is ceil(extent / product of the others). The factors
// after the first keep the bounds and have a product of at most Distribution::kCeilReach. The product of all factors is
// at most extent * (1 + waste).
bool IsCeilTile(const TileBounds& bounds, absl::Span<const int64_t> tile);
double CountCeilTiles(const TileBounds& bounds);
Decision SampleCeilTile(const TileBounds& bounds, Dice& dice);
void ForEachCeilTile(const TileBounds& bounds, const std::function<void(const Decision&)>& visit);
// Returns the ceil tiles that differ from `tile` by 1 or a factor of 2 in one factor after the first, or by a prime
// moved between two of these. The first factor follows from the others. Being such neighbors is symmetric. Returns none
// if `tile` is no ceil tile, for example beyond kCeilReach.
std::vector<Decision> CeilNeighbours(const TileBounds& bounds, absl::Span<const int64_t> tile);

}  // namespace kiln
