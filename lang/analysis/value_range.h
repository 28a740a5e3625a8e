// The values that an expression can have: an interval whose ends saturate, and whether 0 and -1 are in it.
//
// For integers the ends are values. For floats they are whole numbers around the values, and a saturated end
// stands for infinity. A range is an upper bound: it contains every value that occurs. Pure.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <optional>

#include "lang/program/dtype.h"
#include "lang/program/expr.h"

namespace kiln {

struct ValueRange {
  static constexpr int64_t kLeast = std::numeric_limits<int64_t>::min();
  static constexpr int64_t kMost = std::numeric_limits<int64_t>::max();

  int64_t min = kLeast, max = kMost;   // both inclusive; no values if min > max
  bool zero = true, minus_one = true;  // whether these may be among them

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
  // Ends that are excluded move, and flags tell no more than the ends.
  ValueRange Normal() const;
  ValueRange Without(int64_t value) const;  // exact for the ends, 0 and -1
  friend bool operator==(const ValueRange&, const ValueRange&) = default;
};

ValueRange Hull(const ValueRange& a, const ValueRange& b);
ValueRange Intersection(const ValueRange& a, const ValueRange& b);

// All values of a dtype.
ValueRange FullRange(DType type);

// Whether an operation divides integers: undefined where the divisor is 0.
bool DividesIntegers(const Expr& e);

// Operations that are undefined for some operands: those, and shifts.
bool IsPartial(Op op, DType type);
// Whether such an operation is defined for all operands in the ranges: no divisor is 0, none is -1 under the
// least number, and shifts stay below the width.
bool IsDefined(Op op, DType type, const ValueRange& a, const ValueRange& b);

// What an operation makes of operands of `operand_type`, rounded or wrapped to `type`; of casts too. `same`:
// a and b are one expression. Where the operation is undefined it has no value.
ValueRange ApplyToRanges(Op op, DType type, DType operand_type, const ValueRange& a, const ValueRange& b,
                         const ValueRange& c, bool same = false);

}  // namespace kiln
