// Makes the prefilter of real searches. It validates a program and, if the program passes, extracts its
// features. It reads the program's nests once for both.
#pragma once

#include <atomic>
#include <cstdint>

#include "search/features/kinds.h"
#include "search/sampler/chain.h"

namespace kiln {

// Returns a prefilter, which validates programs and extracts their features. It keeps its memory: use one per thread.
// If `feature_time` is given, the prefilter adds to it the nanoseconds that the extraction of features took.
// *feature_time must outlive the prefilter.
Prefilter MakePrefilter(const Target& target, FeatureKind features = FeatureKind::kAnsor,
                        std::atomic<int64_t>* feature_time = nullptr);

}  // namespace kiln
