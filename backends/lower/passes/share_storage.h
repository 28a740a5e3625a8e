// A pass that lets temporaries share memory if they are not live at the same time.
//
//   T1 = f(X); T2 = g(T1); T3 = h(T2); Y = k(T3)   ->   T3 has the memory of T1
//
// A temporary is live from the first to the last child of the program's root that accesses it. Temporaries of one
// phase, element type and kind of memory that are live at different times share memory, as large as the largest of them
// needs. Buffers in registers, with a copy per thread, used in both phases, or read before they are written share
// nothing.
#pragma once

#include "backends/lower/plan/index_plan.h"

namespace kiln {

// Sets BufferPlan::shares of each temporary that gets the memory of another one, as they are live at different times.
// Call it after the last change to loops. Addresses do not change.
void ShareStorage(const Program& program, IndexPlan& plan);

// Returns how many elements the memory of a buffer must hold: the largest count among the buffer and the buffers that
// lie in its memory. The buffer must have memory of its own (BufferPlan::shares is kNone).
int64_t ElementsHeld(const IndexPlan& plan, Id buffer);

}  // namespace kiln
