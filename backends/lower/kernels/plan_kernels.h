// Makes the loop plan of a program for a GPU: loops on axes, pipelines written as loops, and the barriers that the
// threads of a block need. Each child of the root becomes one node of an entry, which backends/gpu/lower_kernels.h
// makes a kernel.
//
//   const auto planned = plan::PlanKernels(program);
//
// The program must pass Verify. Errors: those of VerifyLowerable; kFailedPrecondition if an extent is not constant, if
// blocks of threads would have to wait for each other, or if the program uses what such plans do not have yet: calls of
// intrinsics, parallel loops, producers, bulk copies, blocks of several loop nests in a pipelined loop, barriers for
// some threads of a block.
#pragma once

#include "absl/status/statusor.h"
#include "backends/lower/passes/plan_loops.h"

namespace kiln::plan {

absl::StatusOr<Planned> PlanKernels(const Program& program);

}  // namespace kiln::plan
