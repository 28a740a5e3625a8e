// Legality of placement: at which loops a block may be computed. The placement primitives check it, and
// sample-compute-location uses it to list the choices.
#pragma once

#include <vector>

#include "absl/status/status.h"
#include "lang/analysis/bindings.h"
#include "lang/program/program.h"

namespace kiln {

// OK if the primitive compute-at applies: it moves the block below the loop, before the loop's first child that needs
// the block's result. Otherwise kFailedPrecondition with the reason. Among others, all readers must be below the loop,
// and the block must alone write its results, which must be temporaries.
absl::Status CheckComputeAt(const Program& program, Id block, Id loop);
// OK if the primitive reverse-compute-at applies: it moves the block below the loop, after the loop's last child that
// writes what the block reads. Otherwise kFailedPrecondition with the reason. Among others, each iteration of the loop
// must complete what the block then reads.
absl::Status CheckReverseComputeAt(const Program& program, Id block, Id loop);
absl::Status CheckComputeInline(const Program& program, Id block);
absl::Status CheckReverseComputeInline(const Program& program, Id block);

// OK if a block may be placed at the node: no block contains the node, and the node itself is no block that contains
// others.
absl::Status CheckNotWithin(const Program& program, Id node);

// Returns the only leaf block within a block, or the block itself if it contains no others. Returns kNone if there are
// several leaf blocks.
Id InnerBlock(const Program& program, Id block);

// Returns the name of a node for messages: "block \"name\"", "loop i" or "the root".
std::string Describe(const Program& program, Id node);

// Returns the choices of sample-compute-location: -2 (inline, if legal), -1 (stay), and the positions, among the loops
// around the first consumer, where compute-at is legal. Leaves out loops with one iteration. The list ends where a loop
// that feeds no reduction of the consumer follows one that does.
std::vector<int64_t> ComputeLocations(const Program& program, Id block);

}  // namespace kiln
