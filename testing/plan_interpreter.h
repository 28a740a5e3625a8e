// Runs a loop plan (backends/lower/plan/loop_plan.h) as the emitter would translate it, and checks the plan's
// claims: conditions that it takes as decided hold, no instance with a failing guard runs, no element is read
// before it is stored, and each parallel iteration has its own temporaries. In kernels of a GPU, threads and
// blocks have their own memory, the threads of a sync's owner reach it together, and a sync is between two uses
// of an element by different threads (plan_threads.h). It shares no code with the passes.
//
//   const plan::Planned planned = plan::PlanLoops(program, options);
//   const auto outputs = RunPlan(planned.program, planned.plan, inputs, {.shuffle = 1});
//
// Inputs and outputs are those of kiln::Run (lang/reference/interpreter.h), so that the two can be compared.
#pragma once

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "backends/lower/plan/loop_plan.h"
#include "lang/program/program.h"

namespace kiln {

struct RunPlanOptions {
  // A seed: parallel iterations, threads and blocks run in a random order. 0: they run in order.
  uint64_t shuffle = 0;
};

// Runs the program by its plan and returns its outputs. kInternal, with the block and the fault, if the plan is wrong
// or an input has another size.
absl::StatusOr<std::vector<std::string>> RunPlan(const Program& program, const plan::LoopPlan& plan,
                                                 absl::Span<const std::string> inputs,
                                                 const RunPlanOptions& options = {});

}  // namespace kiln
