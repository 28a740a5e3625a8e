// Finds which points of a block's tiles its guards exclude. No instance exists at such a point.
#pragma once

#include <vector>

#include "lang/analysis/bindings.h"
#include "lang/program/program.h"

namespace kiln {

// True if the block has guards other than those of its iters' own extents. These exclude points of a tile
// that belong to other tiles.
bool HasInnerGuards(const Program& program, const Bindings& bindings);
// Like HasInnerGuards, but one iteration of the loop `at` counts alone: a guard that keeps a mark below its
// extent excludes no point if the loops below `at` give the mark every value (lang/analysis/region.h), and
// each iter depends on these loops through the mark.
bool HasInnerGuards(const Program& program, const Bindings& bindings, Id at);

// Returns the iters whose guard fails for whole iterations of the loop `at` (or of the loops around it). No instance exists
// below such an iteration, so a block that is placed there must not run either. The block must have no inner guards.
std::vector<int> EmptyingIters(const Program& program, const Bindings& bindings, Id at);

// True if the block may read only a part of ReadRegion: guards of its iters, or conditions around its loads, may exclude
// elements that lie inside the buffer. Always true for gathers.
bool ReadsLessThanRegion(const Program& program, const Bindings& bindings, Id buffer);

// True if the conditions of a kWithin say exactly that the load is inside its buffer.
bool BoundsAreTheBuffers(const Program& program, const Expr& within, const Expr& load);

// True if proven: the block writes every element of its WrittenRegion at the root.
bool WritesItsRegion(const Program& program, const Bindings& bindings, Id buffer);

}  // namespace kiln
