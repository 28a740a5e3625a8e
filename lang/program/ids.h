// The basic types that the nodes of a Program use: ids, lists of ids, and sizes.
#pragma once

#include <cstdint>

#include "lang/base/check.h"

namespace kiln {

using Id = int32_t;
inline constexpr Id kNone = -1;
inline constexpr Id kRoot = 0;

// A list: `count` elements from position `begin` on in one of the vectors of a Program.
struct Range {
  int32_t begin = 0, count = 0;
};

// A size: a constant, or a parameter (a buffer of rank 0 with an integer). A parameter lies within LowerBound() ..
// UpperBound() and is a multiple of divisor(); for a constant, all three are the constant.
//
// Code that needs the exact number calls Known(), and so supports constant sizes only. Code that only
// needs a limit (ranges of indices, allocation, estimates) calls UpperBound(), which works for parameters
// too.
class Extent {
 public:
  Extent() = default;  // 1
  Extent(int64_t constant)
      : upper_(constant), lower_(constant), divisor_(constant) {}  // NOLINT: sizes are mostly numbers
  static Extent Parameter(Id buffer, int64_t lower, int64_t upper, int64_t divisor) {
    Extent extent;
    extent.upper_ = upper, extent.lower_ = lower, extent.divisor_ = divisor, extent.parameter_ = buffer;
    return extent;
  }

  bool constant() const { return parameter_ == kNone; }
  // Returns the constant size. Aborts for a parameter: check sizes that come from a user first (CheckConstantExtents).
  int64_t Known() const {
    KILN_CHECK(constant(), "the extent is a parameter");
    return upper_;
  }
  int64_t LowerBound() const { return lower_; }
  int64_t UpperBound() const { return upper_; }
  int64_t divisor() const { return divisor_; }
  Id parameter() const { return parameter_; }  // kNone for a constant

  friend bool operator==(const Extent& a, const Extent& b) = default;

 private:
  int64_t upper_ = 1, lower_ = 1, divisor_ = 1;
  Id parameter_ = kNone;
};

}  // namespace kiln
