// Makes the plan of a model from its tasks: orders the calls and gives each buffer a place.
//
//   auto tasks = ExtractTasks(model);                        // lang/graph/outline.h
//   auto plan = PlanCalls(model, *tasks, needs);             // needs[t]: what the code of task t asks for
//
// Buffers that are never alive at once may share bytes of the arena. The arena is the smallest of several greedy
// placements: largest or earliest buffers first, then random changes of that order (as in "Pisarchyk and Lee, Efficient
// Memory Management for Deep Neural Net Inference, 2020", greedy by size).
//
// Pure functions, safe from any thread. The same arguments give the same plan.
#pragma once

#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "lang/graph/outline.h"
#include "lang/model/arena.h"
#include "lang/model/model_plan.h"

namespace kiln {

// The memory that the compiled code of a task asks for: arrays that its prepare phase writes, and scratch arrays of
// calls.
struct TaskNeeds {
  std::vector<int64_t> prepared = {};    // bytes of each array that its prepare phase writes
  std::vector<int64_t> workspaces = {};  // bytes of each array of scratch memory during a call
  std::vector<char> read_by_prepare =
      {};  // by parameter: true if only the prepare phase reads it; empty: none
};

// Returns the plan of a model. `needs` has an entry for each task, then one for each foreign call. kInternal if the
// calls depend on each other in a cycle.
absl::StatusOr<ModelPlan> PlanCalls(const Program& model, const std::vector<Task>& tasks,
                                    absl::Span<const TaskNeeds> needs,
                                    absl::Span<const ForeignCall> foreign = {});

// Returns the lifetime of each temporary that calls use, in order of first use. A buffer of which others are parts
// (ModelView) lives as long as any of them; parts have no lifetimes of their own.
std::vector<std::pair<Id, Lifetime>> LifetimesOf(const Program& model, const ModelPlan& plan);

}  // namespace kiln
