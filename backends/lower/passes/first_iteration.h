// Moves the test for the first iteration of a reduction (`first over`) out of inner loops that it does not test:
//
//       for k { for j { first over k { C = a } { C += a } } }
//   ->  for k { first over k { for j { C = a } } { for j { C += a } } }
#pragma once

#include "backends/lower/plan/loop_plan.h"

namespace kiln::plan {

void FirstIteration(Nodes& nodes);

}  // namespace kiln::plan
