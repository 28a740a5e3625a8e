// What modules ask of a block before they schedule it. Each check returns OK or kFailedPrecondition, which
// names the block or loop and what it lacks; a module hands it to Schedule::Declines.
#pragma once

#include "absl/status/status.h"
#include "lang/program/program.h"

namespace kiln {

// OK if no module has scheduled the block yet: its loops are serial, of extents that no draw determines,
// run no instance twice, and hold no other block.
absl::Status CheckUntouched(const Program& program, Id block);

// OK if tiles of the block reuse what they load (HasReuse).
absl::Status CheckReuses(const Program& program, Id block);

// OK if the block is a reduction that may have partial results: it starts itself, in a nest of its own.
absl::Status CheckReduces(const Program& program, Id block);

// Whether the block reduces along contiguous memory and reuses nothing, so that no tiling vectorizes it.
// Blocks that combine accumulators do not: which loops they have depends on what was drawn for the tiles.
bool IsRow(const Program& program, Id block);

}  // namespace kiln
