// Counts of operations per kind in one instance of a block.
#pragma once

#include "lang/analysis/nests.h"
#include "lang/patterns/intrinsic.h"
#include "search/features/columns.h"

namespace kiln {

struct Operations {
  double counts[kWithins + 1] = {};  // by Column
  double arithmetic = 0;             // floating point and integer, a fused product and sum as two
};

// What a call of an intrinsic does at once, for a block within one that sums several products: `loops`
// innermost loops of the block are the call's. family: nullptr if there is none.
struct CallAround {
  const IntrinsicFamily* family = nullptr;
  int32_t loops = 0;
};
CallAround FindCallAround(const Program& program, Id block);

Operations CountOperations(const Nests& nests, const NestBlock& block);

}  // namespace kiln
