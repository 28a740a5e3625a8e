// Makes the IndexPlan of a decomposed Program: resolves its indices and conditions, and places its buffers in memory.
#pragma once

#include <map>

#include "backends/lower/plan/index_plan.h"

namespace kiln {

struct PlanOptions {
  int64_t stack_bytes = 32 * 1024;  // limit of one buffer; larger buffers go to the heap, unless in registers
  bool drops_terms = true;          // leaves out terms of sums that are zero: BlockPlan::droppable
  // If true, a buffer with a ring in a pipelined loop gets all copies of the ring. Only one copy is needed if each
  // iteration ends before the next one begins.
  bool rings = true;
  // If true, the program is for a GPU even if none of its loops is on an axis: temporaries in global memory are placed
  // in the workspace.
  bool kernels = false;
  // For kernels of a GPU: a number for buffers in shared memory that can lie at one place because they are in use at
  // different times. Buffers with equal numbers get the same place.
  std::map<Id, int32_t> places = {};
};

// True for a parallel loop with more than one iteration.
bool RunsOnThreads(const Program& program, Id node);

// Returns the IndexPlan of a decomposed program. Adds marks to the program: for sums that must be divided where an
// index cannot be expressed otherwise, and for the computed indices of gathers.
IndexPlan PlanIndices(Program& program, const PlanOptions& options = {});

}  // namespace kiln
