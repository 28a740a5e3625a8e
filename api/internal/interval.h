// Converts intervals of measured times to those of the API.
#pragma once

#include "api/running.h"
#include "backends/vendor/paired_timing.h"

namespace kiln::api {

inline Interval IntervalOf(const MedianInterval& m) { return {m.median, m.low, m.high}; }

}  // namespace kiln::api
