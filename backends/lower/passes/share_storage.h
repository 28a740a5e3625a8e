// Lets temporaries share memory if they are not live at the same time.
//
//   T1 = f(X); T2 = g(T1); T3 = h(T2); Y = k(T3)   ->   T3 has the memory of T1
//
// A temporary is live from the first to the last child of the root that accesses it. Temporaries of the same
// element type and place that are live at different times share memory, as large as the largest of them
// needs. Not shared are buffers in registers, buffers with a copy per thread, buffers that both phases use,
// and buffers that are read before they are written.
#pragma once

#include "backends/lower/plan/index_plan.h"

namespace kiln {

// Sets BufferPlan::shares. Call it after the last change to loops. Addresses do not change.
void ShareStorage(const Program& program, IndexPlan& plan);

// Returns the number of elements of the memory that a buffer and the buffers sharing it use.
int64_t ElementsHeld(const IndexPlan& plan, Id buffer);

}  // namespace kiln
