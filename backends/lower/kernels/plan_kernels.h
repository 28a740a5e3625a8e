// Plans a program with a GPU's schedule: loops on axes, pipelines written as loops, and the syncs that the threads of
// a block need. backends/gpu/lower_kernels.h makes kernels of the plan.
//
//   const auto planned = plan::PlanKernels(program);
//
// The program must pass Verify. Errors: kFailedPrecondition if it uses what such plans do not have yet: calls of
// intrinsics, parallel loops, producers, copies that are asynchronous or in bulk.
#pragma once

#include "absl/status/statusor.h"
#include "backends/lower/passes/plan_loops.h"

namespace kiln::plan {

absl::StatusOr<Planned> PlanKernels(const Program& program);

}  // namespace kiln::plan
