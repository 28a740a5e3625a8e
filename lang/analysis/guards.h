// Finds which points of a block's tiles are excluded by guards: conditions that an instance must meet to exist
// (lang/analysis/bindings.h).
#pragma once

#include <vector>

#include "lang/analysis/bindings.h"
#include "lang/program/program.h"

namespace kiln {

// True if the block has guards other than those of its iters' own extents. These exclude points of a tile
// that belong to other tiles.
bool HasInnerGuards(const Program& program, const Bindings& bindings);
// True if the block has guards other than those of its iters' own extents, in one iteration of the loop `at`. Does not
// count a guard that keeps a mark below its extent if the loops below `at` alone give the mark all its values
// (lang/analysis/region.h), and iters depend on these loops only through the mark.
bool HasInnerGuards(const Program& program, const Bindings& bindings, Id at);

// Returns the iters whose guard may fail for whole iterations of the loop `at` (or of the loops around it). No instance
// exists below such an iteration, so a block that is placed there must not run either. A guarded iter whose range is
// unknown is returned too. The block must have no guards other than those of its iters' own extents.
std::vector<int> EmptyingIters(const Program& program, const Bindings& bindings, Id at);

// True if the block may read only a part of the region of the buffer that ReadRegion (lang/analysis/region.h) returns:
// guards of its iters, or conditions around its loads, may exclude elements that lie inside the buffer. Always true if
// the block gathers from the buffer.
bool ReadsLessThanRegion(const Program& program, const Bindings& bindings, Id buffer);

// True if every condition of a kWithin says that an index of the load lies inside its dimension of the buffer.
bool BoundsAreTheBuffers(const Program& program, const Expr& within, const Expr& load);

// True if proven: the block writes every element of the region that WrittenRegion (lang/analysis/region.h) returns for
// the whole program.
bool WritesItsRegion(const Program& program, const Bindings& bindings, Id buffer);

}  // namespace kiln
