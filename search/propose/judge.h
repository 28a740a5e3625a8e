// The judge of real searches: the validator's verdict, and the features of what passes. The nests of a
// program are read once for both.
#pragma once

#include <atomic>
#include <cstdint>

#include "search/features/kinds.h"
#include "search/sampler/chain.h"

namespace kiln {

// Keeps its memory from program to program: one per thread. The nanoseconds that features took are added to
// *feature_time, which must outlive it, if it is given.
Judge MakeJudge(const Target& target, FeatureKind features = FeatureKind::kAnsor,
                std::atomic<int64_t>* feature_time = nullptr);

}  // namespace kiln
