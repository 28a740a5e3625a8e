// Which temporaries lie in the memory of others.
//
//   T1 = f(X); T2 = g(T1); T3 = h(T2); Y = k(T3)   ->   T3 has the memory of T1
//
// A temporary is live from the first to the last child of the root that touches it. Those of one element type
// and one place that are live at different times share memory, as large as the largest of them. Left alone
// are what registers hold, what threads have copies of, what both phases use, and what is read before it is
// written.
#pragma once

#include "backends/lower/passes/plan.h"

namespace kiln {

// Sets BufferPlan::shares, after the last change to loops. Addresses stay as they are.
void ShareStorage(const Program& program, Plan& plan);

// Of the memory that a buffer has for itself and for those that share it.
int64_t ElementsHeld(const Plan& plan, Id buffer);

}  // namespace kiln
