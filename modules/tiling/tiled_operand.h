// An operand of a block that multi-level tiling tiles: how the block reads it, and what a packed copy needs.
#pragma once

#include "lang/analysis/access.h"

namespace kiln {

struct TiledOperand {
  int number = 0;        // position among the buffers that the block reads
  AccessPattern access;  // of the block before tiling
  bool constant = false;
  int64_t together = 1;  // how many elements along a reduction the intrinsic reads from one piece of memory
};

}  // namespace kiln
