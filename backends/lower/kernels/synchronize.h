// Inserts the syncs that the threads of a block need: between two parts of a kernel of which one writes a buffer that the
// other reads or writes, and which may run on different threads.
//
//   for k { for t 64 axis thread-x { put } for t 64 axis thread-x { get } }
//   ->  for k { sync block for t 64 axis thread-x { put } sync block for t 64 axis thread-x { get } }
//
// A sync is as far outside of loops as it can be, and none is there that others make superfluous.
//
// A part is a loop on an axis of threads, or what one thread runs outside of such loops. Its iterations are independent of
// each other, so that no sync is inside. Copies of a ring are told apart. Buffers in registers need no sync.
#pragma once

#include "backends/lower/plan/loop_plan.h"
#include "lang/program/program.h"

namespace kiln::plan {

void Synchronize(const Program& program, const IndexPlan& indices, Nodes& nodes);

}  // namespace kiln::plan
