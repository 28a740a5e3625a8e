// Assigns temporaries in shared memory that are not alive at the same time to one place.
//
//   plan.places = PlacesInTurn(program, plan);      // of lang/threads/sync_points.h
//
// The children of the innermost block-axis loop of a kernel run one after the other. A buffer is alive from the first
// child that uses it to the last. A later buffer gets the same place if, between the two, all threads of the block wait
// for each other at a point of the plan; no point is added. Buffers that producers or bulk copies fill keep places of
// their own, since these may run ahead, and so do all buffers of a kernel without a block axis around it. Pure
// function; thread-safe.
#pragma once

#include <vector>

#include "lang/threads/sync_points.h"

namespace kiln {

std::vector<SharedPlace> PlacesInTurn(const Program& program, const SyncPlan& plan);

}  // namespace kiln
