// Makes the IndexPlan of a decomposed Program before code is emitted.
#pragma once

#include <map>

#include "backends/lower/plan/index_plan.h"

namespace kiln {

struct PlanOptions {
  int64_t stack_bytes = 32 * 1024;  // limit of one buffer; larger buffers go to the heap, unless in registers
  bool drops_terms = true;          // leaves out terms of sums that are zero: BlockPlan::droppable
  // Gives each buffer in the ring of a pipelined loop its copies. A plan without stages needs only one.
  bool rings = true;
  // A program of kernels, even if no loop is on an axis: temporaries in global memory are of the workspace.
  bool kernels = false;
  // For kernels: buffers in shared memory with equal numbers lie in the same place, at different times.
  std::map<Id, int32_t> places = {};
};

// True for a parallel loop with more than one iteration.
bool RunsOnThreads(const Program& program, Id node);

// Plans a program. Adds marks to the program if an index cannot be expressed otherwise.
IndexPlan PlanIndices(Program& program, const PlanOptions& options = {});

}  // namespace kiln
