// Moves the test for the first iteration of a reduction outwards, to where the last loop that it asks about begins:
//
//   for k { for j { first over k { C = a } { C += a } } }  ->  for k { first over k { for j { C = a } } { for j { C += a } } }
#pragma once

#include "backends/lower/plan/loop_plan.h"

namespace kiln::plan {

void FirstIteration(Nodes& nodes);

}  // namespace kiln::plan
