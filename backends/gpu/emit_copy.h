// Emits asynchronous copies from global to shared memory (cp.async). Private to backends/gpu.
#pragma once

#include "backends/lower/emit/emit_access.h"
#include "backends/lower/plan/loop_plan.h"

namespace kiln {

// Emits cp.async for the instance of a leaf whose store is asynchronous, and returns true. Conditions: the stored value
// is a load, or a load within bounds and zero elsewhere; each thread copies 4, 8 or 16 adjacent bytes from global to
// shared memory, both aligned to that size; and no lane is masked. Otherwise, and for other leaves, emits no copy and
// returns false. The caller then emits a load and a plain store, which end before the thread reaches the wait.
bool EmitCopy(MemoryEmitter& memory, const plan::Leaf& leaf);

}  // namespace kiln
