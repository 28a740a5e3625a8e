// Counts and draws tiles under bounds. Private to the bounded and ceil tiles of
// lang/choices/distribution.h, which defines them. Tables are memoized per
// thread.
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

  // Returns the bounds of the factors after the first, if their product is `inner`.
  TileBounds Inner(int64_t inner) const {
    return {inner, parts - 1, most.first(parts - 1), multiple.first(parts - 1), 0};
  }
};

// Bounded tiles: factorizations of the extent within the bounds.
bool IsBoundedTile(const TileBounds& bounds, absl::Span<const int64_t> tile);
double CountBoundedTiles(const TileBounds& bounds);
Decision SampleBoundedTile(const TileBounds& bounds, Dice& dice);
void ForEachBoundedTile(const TileBounds& bounds, const std::function<void(const Decision&)>& visit);
// Visits tiles with a divisor moved from one factor to another. Symmetric; connects all tiles.
void ForEachBoundedNeighbour(const TileBounds& bounds, absl::Span<const int64_t> tile,
                             absl::FunctionRef<void(const Decision&)> visit);

// Ceil tiles: the first factor is ceil(extent / product of the others), and that product is at most
// Distribution::kCeilReach.
bool IsCeilTile(const TileBounds& bounds, absl::Span<const int64_t> tile);
double CountCeilTiles(const TileBounds& bounds);
Decision SampleCeilTile(const TileBounds& bounds, Dice& dice);
void ForEachCeilTile(const TileBounds& bounds, const std::function<void(const Decision&)>& visit);
// Returns tiles that differ a little. Symmetric. Perfect tiles beyond kCeilReach have no neighbours.
std::vector<Decision> CeilNeighbours(const TileBounds& bounds, absl::Span<const int64_t> tile);

}  // namespace kiln
