// Products of sizes with a check for overflow.
#pragma once

#include <cstdint>
#include <optional>

#include "absl/container/inlined_vector.h"
#include "absl/types/span.h"
#include "lang/program/nodes.h"

namespace kiln {

// Returns factors[0] * factors[1] * ... (1 without factors), or nullopt if that does not fit an int64.
inline std::optional<int64_t> Product(absl::Span<const int64_t> factors) {
  int64_t product = 1;
  bool fits = true;
  for (const int64_t factor : factors) {
    if (factor == 0) return 0;
    fits = fits && !__builtin_mul_overflow(product, factor, &product);
  }
  return fits ? std::optional(product) : std::nullopt;
}

// Returns the product of `factor` and the upper bounds of the extents, or nullopt if that does not fit an int64.
inline std::optional<int64_t> Product(absl::Span<const Extent> extents, int64_t factor) {
  absl::InlinedVector<int64_t, 8> factors{factor};
  for (const Extent& extent : extents) factors.push_back(extent.UpperBound());
  return Product(factors);
}

inline std::optional<int64_t> Product(absl::Span<const Iter> iters) {
  absl::InlinedVector<int64_t, 8> factors;
  for (const Iter& iter : iters) factors.push_back(iter.extent.UpperBound());
  return Product(factors);
}

}  // namespace kiln
