// Legality of placement: at which loops a block may be computed. The placement primitives check with it, and
// sampling of locations asks it for the choices.
#pragma once

#include <vector>

#include "absl/status/status.h"
#include "lang/analysis/bindings.h"
#include "lang/program/program.h"

namespace kiln {

// compute-at: block is moved below loop, before the first child that needs it.
absl::Status CheckComputeAt(const Program& program, Id block, Id loop);
// reverse-compute-at: block is moved below loop, after the last child that it reads from.
absl::Status CheckReverseComputeAt(const Program& program, Id block, Id loop);
absl::Status CheckComputeInline(const Program& program, Id block);
absl::Status CheckReverseComputeInline(const Program& program, Id block);

// kFailedPrecondition if the node is a block around others, or within one: nothing is placed there.
absl::Status CheckNotWithin(const Program& program, Id node);

// The block that computes: the block itself, or the only one that is not around others within it (kNone if
// there are several).
Id InnerBlock(const Program& program, Id block);

// "block \"name\"", "loop i"; for messages.
std::string Describe(const Program& program, Id node);

// What sample-compute-location chooses from: -2 (inline, if that applies), -1 (stay), and the positions among
// the loops around the first consumer where compute-at applies. Data parallel loops first: none after a loop
// that feeds a reduction of the consumer.
std::vector<int64_t> ComputeLocations(const Program& program, Id block);

}  // namespace kiln
