// Writes the driver of a model: the functions that call the compiled tasks in order, as MLIR text in the func, cf and
// llvm dialects.
//
//   int NAME(const void* weights, INPUTS AND RESULTS..., void* arena)
//   int NAME_prepare(const void* const* constants, void* weights)
//   int NAME_set_threads(int)               if the code of a task runs on threads
//   int NAME_by_table(void* const* table), int NAME_prepare_by_table(void* const* table)
//
// Inputs and results are the model's parameters in order, without constants. NAME_prepare takes a table of the
// constants in order, and writes the weights. It returns 1 if there is no memory for its scratch area, and 0 otherwise.
// Statuses of tasks that run in the prepare phase are ignored. The functions ending with by_table take a table of all
// parameters in order, then the weights and the arena, for callers that do not know the signature when they are
// compiled.
//
// NAME returns 1 as soon as a task says by its status that an assertion of the model fails, and 0 otherwise. It
// allocates nothing, and keeps no state.
#pragma once

#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "lang/model/model_plan.h"

namespace kiln {

// The compiled code of a task: its function, and which further functions it has.
struct TaskCode {
  std::string symbol;
  bool has_prepare = false, takes_threads = false;
  bool has_status = false;  // whether it may return something else than 0
};

struct Driver {
  std::string module;                // the text
  std::vector<std::string> entries;  // the functions that the text defines; of DriverOf: NAME first
};

// Writes the driver that makes the calls of a plan. `metadata` is the text of the exported string `const char
// NAME_metadata[]`, which describes the model; empty: there is no such string.
//
// With `counts_calls`, for checks, NAME and the table of NAME_by_table have int64_t steps[2] after the arena. Calls are
// counted by their position in the plan, from 1, with those of the prepare phase. NAME returns 0 before the first call
// whose number is above steps[0], and writes the number of each other call to steps[1] before the call begins.
Driver DriverOf(const Program& model, const ModelPlan& plan, absl::Span<const TaskCode> tasks,
                const std::string& name, absl::string_view metadata = "", bool counts_calls = false);

// Writes a second driver, for shared libraries alone, which measures how long each call of a model takes. The driver of
// DriverOf pays nothing for this.
//
//   int NAME_profile_by_table(void* const* table)
//
// The table is that of NAME_by_table, and one pointer more: to a timespec for the time before the first call and one
// for the time after each call of the run phase (CLOCK_MONOTONIC). `calls` is the text of the exported `const char
// NAME_profile_calls[]`.
Driver ProfileDriverOf(const Program& model, const ModelPlan& plan, absl::Span<const TaskCode> tasks,
                       const std::string& name, absl::string_view calls = "");

}  // namespace kiln
