// Places memory that is alive for a part of a run in one arena.
#pragma once

#include <cstdint>
#include <vector>

#include "absl/types/span.h"
#include "lang/model/model_plan.h"

namespace kiln {

struct Lifetime {
  int64_t bytes = 0;
  int first = 0, last = 0;  // the calls in which it is alive, both inclusive
};

struct Arena {
  std::vector<int64_t> offsets;  // by lifetime
  int64_t bytes = 0;
};

inline int64_t RoundUp(int64_t bytes) {
  return (bytes + kModelAlignment - 1) / kModelAlignment * kModelAlignment;
}

// Returns an offset for each lifetime so that no two that are alive at once overlap. Tries many orders and keeps the
// smallest arena. The same lifetimes give the same arena.
Arena PlaceLifetimes(absl::Span<const Lifetime> lifetimes);

// Returns the most bytes, rounded up to alignment, that are alive at once. No arena is smaller.
int64_t MostAlive(absl::Span<const Lifetime> lifetimes);

}  // namespace kiln
