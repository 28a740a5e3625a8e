// Decides in which memory each buffer lives and at which address each access finds its element. The last step of
// PlanIndices.
//
// A temporary that is used below some loops only keeps the elements that are live there:
//   for i0: for i1: t[i0 * 16 + i1] = ...; for i1: ... = t[i0 * 16 + i1]
//   ->  t has 16 elements, and i1 is the address
// This compaction applies to each dimension (of the layout) in which the index of every access is the same function of
// the outer loops plus a bounded rest. Outer loops are those around all accesses, down to the first in which one
// iteration reads what another wrote, or whose iterations are vector lanes. A buffer with a ring in a pipelined loop
// gets `depth` copies of its elements, one after the other (PlanOptions::rings).
//
// If the program has loops on axes of a GPU, registers and stack buffers belong to a thread, buffers in shared memory
// lie in an arena for each kernel, and temporaries in global memory lie in a workspace.
#pragma once

#include <vector>

#include "backends/lower/passes/plan_indices.h"
#include "backends/lower/plan/index_plan.h"

namespace kiln {

struct PlannedAccess {
  Id node = kNone;
  bool prepare = false;
  Id buffer = kNone;
  std::vector<IndexSum> axes;   // index of each axis of the layout
  IndexSum* address = nullptr;  // where the planned address goes
};

void PlaceBuffers(const Program& program, const PlanOptions& options,
                  const std::vector<PlannedAccess>& accesses, IndexPlan& plan);

}  // namespace kiln
