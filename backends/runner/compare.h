// Compares two arrays element by element (see Tolerance in runner.h).
#pragma once

#include <cstdint>
#include <string>

#include "backends/runner/runner.h"

namespace kiln {

struct Comparison {
  bool agrees = true;
  double max_error = 0;          // the largest error as a fraction of what is allowed
  int64_t worst_index = -1;      // where it is
  int64_t mismatches = 0;        // elements beyond the tolerance
  double found = 0, wanted = 0;  // at worst_index
};

// `dtype` must be one (data.h).
Comparison CompareArrays(const std::string& dtype, const void* found, const void* wanted, int64_t elements,
                         const Tolerance& tolerance);

// Where all that is compared is whether floats are finite. The first element that is finite in `wanted` and
// not in `found`; -1 if there is none, and of integers always.
int64_t FirstMissedFinite(const std::string& dtype, const void* found, const void* wanted, int64_t elements);

// Makes what is not finite in `other` NaN in `wanted`.
void WantFiniteWhere(const std::string& dtype, const void* other, void* wanted, int64_t elements);

}  // namespace kiln
