// The median of numbers, as of samples of a time.
#pragma once

#include <algorithm>
#include <vector>

namespace kiln {

// Returns the median of the values: the mean of the two in the middle if their number is even, `none` if there are no
// values.
inline double Median(std::vector<double> values, double none = 0) {
  const size_t n = values.size();
  if (n == 0) return none;
  std::sort(values.begin(), values.end());
  return (values[(n - 1) / 2] + values[n / 2]) / 2;
}

}  // namespace kiln
