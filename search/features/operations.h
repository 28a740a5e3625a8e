// Counts of operations per kind in one instance of a block.
#pragma once

#include "lang/analysis/nests.h"
#include "search/features/columns.h"

namespace kiln {

struct Operations {
  double counts[kWithins + 1] = {};  // by Column
  double arithmetic = 0;             // floating point and integer, a fused product and sum as two
};

Operations CountOperations(const Nests& nests, const NestBlock& block);

}  // namespace kiln
