// Inlines a block into the blocks that read its result.
#pragma once

#include "absl/status/status.h"
#include "lang/program/program.h"

namespace kiln {

// Checks that InlineBlock applies. kFailedPrecondition if the block may not be inlined (CheckComputeInline), or if an
// index cannot be expressed in the iters of a reader.
absl::Status CheckInlineBlock(const Program& program, Id block);

// Replaces every read of the block's result by the block's body, and removes the block and the loops that become empty
// (the primitive compute-inline). Fails as CheckInlineBlock does; the tree is then unchanged.
absl::Status InlineBlock(Program& program, Id block);

}  // namespace kiln
