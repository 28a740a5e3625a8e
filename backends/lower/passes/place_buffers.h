// Where buffers live and how their elements are addressed: the last part of a Plan.
//
// A temporary that is used below some loops only keeps what is live there:
//   for i0: for i1: t[i0 * 16 + i1] = ...; for i1: ... = t[i0 * 16 + i1]
//   ->  t has 16 elements, and i1 is the address
// in every dimension whose index is the same function of those loops in all accesses, plus a bounded rest,
// provided that what is read below them was written below them. Dimensions are those of the layout.
#pragma once

#include <vector>

#include "backends/lower/passes/plan.h"

namespace kiln {

struct PlannedAccess {
  Id node = kNone;
  bool prepare = false, write = false;
  Id buffer = kNone;
  std::vector<IndexSum> axes;   // index of each axis of the layout
  IndexSum* address = nullptr;  // receives the address
};

void PlaceBuffers(const Program& program, int64_t stack_bytes, const std::vector<PlannedAccess>& accesses,
                  Plan& plan);

}  // namespace kiln
