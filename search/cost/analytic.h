// A guess of how fast a program is that needs no measurement: the cycles of the roofline (search/features.h).
#pragma once

#include "absl/types/span.h"

namespace kiln {

// The negative logarithm of the cycles of a program whose rows are FeatureDim() numbers each: log throughput
// up to a constant of the machine. Pure; any thread.
double AnalyticScore(absl::Span<const float> rows);

}  // namespace kiln
