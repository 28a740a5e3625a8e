// The points of a block's tiles that its guards cut off: points at which there is no instance.
#pragma once

#include <vector>

#include "lang/analysis/bindings.h"
#include "lang/program/program.h"

namespace kiln {

// Guards of a block other than those of its iters' own extents:
// points of its tiles that belong to other tiles.
bool HasInnerGuards(const Program& program, const Bindings& bindings);

// Iters whose guard some iterations of `at` (and of the loops around it) fail as a whole: there is no
// instance below then, and what is placed there must not run either. Of a block without inner guards.
std::vector<int> EmptyingIters(const Program& program, const Bindings& bindings, Id at);

// True if guards of the block's iters cut off a part of what ReadRegion gives for the buffer, other than what
// lies outside of the buffer: then some of the region may never be read.
bool ReadsLessThanRegion(const Program& program, const Bindings& bindings, Id buffer);

// True if each element that the block's index of the buffer spans is written.
bool WritesItsRegion(const Program& program, const Bindings& bindings, Id buffer);

}  // namespace kiln
