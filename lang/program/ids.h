// What the nodes of a Program are named by: ids, lists of ids, sizes.
#pragma once

#include <cstdint>

namespace kiln {

using Id = int32_t;
inline constexpr Id kNone = -1;
inline constexpr Id kRoot = 0;

// A list in one of Program's pools.
struct Range {
  int32_t begin = 0, count = 0;
};

// A size: a constant (param = kNone, value in max),
// or a parameter within [min, max] that is a multiple of divisor.
struct Extent {
  int64_t max = 1, min = 1, divisor = 1;
  Id param = kNone;
  Extent() = default;
  Extent(int64_t constant)
      : max(constant), min(constant), divisor(constant) {}  // NOLINT: sizes are mostly numbers
  bool constant() const { return param == kNone; }
  friend bool operator==(const Extent& a, const Extent& b) {
    return a.max == b.max && a.min == b.min && a.param == b.param && a.divisor == b.divisor;
  }
};

}  // namespace kiln
