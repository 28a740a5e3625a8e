// Inlines a block into the blocks that read its result.
#pragma once

#include "absl/status/status.h"
#include "lang/program/program.h"

namespace kiln {

// Replaces every read of the block's result by the block's body, and removes the block (the primitive
// compute-inline). kFailedPrecondition if it may not be inlined (CheckComputeInline), or if a reader cannot
// express an index; the tree is then unchanged.
absl::Status InlineBlock(Program& program, Id block);

}  // namespace kiln
