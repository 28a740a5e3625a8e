// The judge of real searches: asks the validator about a program, and extracts the features of one that
// passes. It reads the nests of the program once for both.
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
