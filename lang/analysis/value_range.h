// The range of values of an expression: an interval with saturating ends, and whether it contains 0 and -1.
//
// The ends of an integer range are values. The ends of a float range are integers around the values, and a saturated
// end means infinity. A range contains every value that occurs, except NaN, and may contain others. All functions are
// pure.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <optional>

#include "lang/program/dtype.h"
#include "lang/program/expr.h"

namespace kiln {

struct ValueRange {
  static constexpr int64_t kMin = std::numeric_limits<int64_t>::min();
  static constexpr int64_t kMax = std::numeric_limits<int64_t>::max();

  int64_t min = kMin, max = kMax;      // both inclusive; no values if min > max
  bool zero = true, minus_one = true;  // whether the range may contain 0 and -1

  static ValueRange Of(int64_t min, int64_t max) { return ValueRange{min, max}.Normal(); }
  static ValueRange None() { return {0, -1, false, false}; }

  bool empty() const { return min > max; }
  bool MayBe(int64_t value) const {
    return min <= value && value <= max && (value != 0 || zero) && (value != -1 || minus_one);
  }
  bool Within(int64_t least, int64_t most) const { return empty() || (min >= least && max <= most); }
  bool Within(const ValueRange& other) const {
    return Within(other.min, other.max) && (other.zero || !zero) && (other.minus_one || !minus_one);
  }
  // Returns this range in normal form: an end that is excluded (0 or -1) moves inwards, and the flags agree with the
  // ends.
  ValueRange Normal() const;
  ValueRange Without(int64_t value) const;  // removes a value that is an end, 0 or -1; keeps others
  friend bool operator==(const ValueRange&, const ValueRange&) = default;
};

ValueRange Hull(const ValueRange& a, const ValueRange& b);
ValueRange Intersection(const ValueRange& a, const ValueRange& b);

// Returns the range of all values that a dtype can represent.
ValueRange FullRange(DType type);

// True if the operation is undefined for some operands: integer divisions, integer remainders and shifts.
bool IsPartial(Op op, DType type);
// True if the operation is defined for all operands in the ranges: no divisor is 0, the smallest integer is
// not divided by -1, and shift counts are below the width.
bool IsDefined(Op op, DType type, const ValueRange& a, const ValueRange& b);

// Returns the range of the results of an operation, or a cast, whose operands have the ranges a, b and c and the type
// `operand_type`. The results are rounded or wrapped to `type`. `same`: the first two operands are one expression.
// Operands for which the operation is undefined contribute no value.
ValueRange ApplyToRanges(Op op, DType type, DType operand_type, const ValueRange& a, const ValueRange& b,
                         const ValueRange& c, bool same = false);

}  // namespace kiln
