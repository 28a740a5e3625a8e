// Emits asynchronous copies from global to shared memory (cp.async). Private to backends/gpu.
#pragma once

#include "backends/lower/emit/emit_access.h"
#include "backends/lower/plan/loop_plan.h"

namespace kiln {

// Emits the instance of a leaf whose store is asynchronous. Returns false, and emits no copy, for other leaves and if
// cp.async does not fit: it copies 4, 8 or 16 bytes, aligned to as much, in all lanes. A plain store then does as well: it
// is done before the thread comes to the wait.
bool EmitCopy(MemoryEmitter& memory, const plan::Leaf& leaf);

}  // namespace kiln
