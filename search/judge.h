// The judge of real searches: the validator's verdict, and the features of what passes. The nests of a
// program are read once for both.
#pragma once

#include "search/chain.h"
#include "search/features/kinds.h"

namespace kiln {

// Keeps its memory from program to program: one per thread.
Judge MakeJudge(const Target& target, FeatureKind features = FeatureKind::kAnsor);

}  // namespace kiln
