// Compares two arrays element by element, with a Tolerance (runner.h).
#pragma once

#include <cstdint>
#include <string>

#include "backends/runner/runner.h"

namespace kiln {

struct Comparison {
  bool agrees = true;
  double max_error = 0;          // the largest error as a fraction of the tolerance
  int64_t worst_index = -1;      // position of the largest error
  int64_t mismatches = 0;        // number of elements beyond the tolerance
  double found = 0, wanted = 0;  // at worst_index
};

// Compares two arrays of `dtype` (data.h) within a tolerance. Returns the largest error as a fraction of the tolerance,
// where it is, and the number of elements beyond the tolerance. The arrays agree if there are none. Integers that
// differ have an infinite error.
Comparison CompareArrays(const std::string& dtype, const void* found, const void* wanted, int64_t elements,
                         const Tolerance& tolerance);

// Returns the bytes of `found`, but those of `wanted` for elements that still have the pattern of FillPoison, because
// nothing wrote them. Returns "" if all elements have it.
std::string WantedIfUnwritten(const std::string& dtype, const void* found, const void* wanted,
                              int64_t elements);

// Compares only whether floats are finite. Returns the index of the first element that is finite in `wanted` but not in
// `found`; -1 if there is none, and for integers.
int64_t FirstMissedFinite(const std::string& dtype, const void* found, const void* wanted, int64_t elements);

// Sets elements of `wanted` to NaN if the element of `other` at the same index is not finite. Integers stay.
void WantFiniteWhere(const std::string& dtype, const void* other, void* wanted, int64_t elements);

}  // namespace kiln
