// Converts a median with its interval, of times or ratios, to the API's Interval.
#pragma once

#include "api/running.h"
#include "backends/vendor/paired_timing.h"

namespace kiln::api {

inline Interval IntervalOf(const MedianInterval& m) { return {m.median, m.low, m.high}; }

}  // namespace kiln::api
