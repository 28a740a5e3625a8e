// Writes pipelined loops as loops without stages. With two stages of which the second multiplies:
//
//   for k 4 { copy multiply }  ->  for k 1 { copy } for k 3 { for k 1..2 { copy } multiply } for k 3..4 { multiply }
//
// Before it, a child runs in each iteration; after it, a child of stage s runs s turns later.
#pragma once

#include "absl/status/status.h"
#include "backends/lower/plan/loop_plan.h"
#include "lang/program/program.h"

namespace kiln::plan {

// kFailedPrecondition if a pipelined loop has children without a stage: a reduction inside it was given an initialization.
absl::Status WriteOutPipelines(const Program& program, Nodes& nodes);

}  // namespace kiln::plan
