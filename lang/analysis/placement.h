// Where a block may be computed. The checks of the placement primitives, which sampling asks too.
#pragma once

#include <vector>

#include "absl/status/status.h"
#include "lang/analysis/bindings.h"
#include "lang/program.h"

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

// Guards of a block other than those of its iters' own extents: points of its tiles that belong to other
// tiles.
bool HasInnerGuards(const Program& program, const Bindings& bindings);

// Iters whose guard some iterations of `at` (and of the loops around it) fail as a whole: there is no
// instance below then, and what is placed there must not run either. Of a block without inner guards.
std::vector<int> EmptyingIters(const Program& program, const Bindings& bindings, Id at);

// True if guards of the block's iters cut off a part of what ReadRegion gives for the buffer, other than what
// lies outside of the buffer: then some of the region may never be read.
bool ReadsLessThanRegion(const Program& program, const Bindings& bindings, Id buffer);

// True if each element that the block's index of the buffer spans is written.
bool WritesItsRegion(const Program& program, const Bindings& bindings, Id buffer);

// What sample-compute-location chooses from: -2 (inline, if that applies), -1 (stay), and the positions among
// the loops around the first consumer where compute-at applies. Data parallel loops first: none after a loop
// that feeds a reduction of the consumer.
std::vector<int64_t> ComputeLocations(const Program& program, Id block);

}  // namespace kiln
