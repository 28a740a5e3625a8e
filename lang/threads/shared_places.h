// Finds buffers in shared memory that may lie in one place, one after the other.
//
//   plan.places = PlacesInTurn(program, plan);      // of lang/threads/sync_points.h
//
// The loops on block axes around a kernel give each block shared memory of its own. Below the innermost of them, a
// buffer is alive from the first child that uses it to the last. Another one may have its place if it begins later,
// and if all threads of the block wait for each other between the two anyway: no point is added. Buffers that
// producers or copies in bulk fill keep places of their own, since these may be ahead. Pure function; thread-safe.
#pragma once

#include <vector>

#include "lang/threads/sync_points.h"

namespace kiln {

std::vector<SharedPlace> PlacesInTurn(const Program& program, const SyncPlan& plan);

}  // namespace kiln
