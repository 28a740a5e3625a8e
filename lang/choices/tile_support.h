// Tiles under bounds, counted and drawn: what stands behind the bounded and ceil tiles of
// lang/choices/distribution.h, which says what they mean. A part of its source; of no use elsewhere. Tables are
// memoized per thread.
#pragma once

#include <functional>
#include <vector>

#include "absl/functional/function_ref.h"
#include "lang/choices/distribution.h"

namespace kiln {

struct TileBounds {
  int64_t extent = 1;
  int parts = 1;
  absl::Span<const int64_t> most, multiple;  // of the products of the last 1 .. parts factors; 0: none
  double waste = 0;                          // of ceil tiles

  // The bounds of the factors after the first, whose product is `inner`.
  TileBounds Inner(int64_t inner) const {
    return {inner, parts - 1, most.first(parts - 1), multiple.first(parts - 1), 0};
  }
};

// Factorizations of the extent within the bounds.
bool IsBoundedTile(const TileBounds& bounds, absl::Span<const int64_t> tile);
double CountBoundedTiles(const TileBounds& bounds);
Decision SampleBoundedTile(const TileBounds& bounds, Dice& dice);
void ForEachBoundedTile(const TileBounds& bounds, const std::function<void(const Decision&)>& visit);
// A divisor of one factor moved to another; symmetric, and connects all.
void ForEachBoundedNeighbour(const TileBounds& bounds, absl::Span<const int64_t> tile,
                             absl::FunctionRef<void(const Decision&)> visit);

// Those whose first factor is ceil(extent / product of the others),
// and that product at most Distribution::kCeilReach.
bool IsCeilTile(const TileBounds& bounds, absl::Span<const int64_t> tile);
double CountCeilTiles(const TileBounds& bounds);
Decision SampleCeilTile(const TileBounds& bounds, Dice& dice);
void ForEachCeilTile(const TileBounds& bounds, const std::function<void(const Decision&)>& visit);
// Tiles that differ by a little; symmetric. Perfect tiles beyond the reach have none.
std::vector<Decision> CeilNeighbours(const TileBounds& bounds, absl::Span<const int64_t> tile);

}  // namespace kiln
