// Products of sizes that may not fit.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <optional>

#include "absl/types/span.h"

namespace kiln {

// factors[0] * factors[1] * ..., 1 of none; nullopt where that is not an int64.
inline std::optional<int64_t> Product(absl::Span<const int64_t> factors) {
  int64_t product = 1;
  bool fits = true;
  for (const int64_t factor : factors) {
    if (factor == 0) return 0;
    fits = fits && !__builtin_mul_overflow(product, factor, &product);
  }
  return fits ? std::optional(product) : std::nullopt;
}

}  // namespace kiln
