// Compiles a model: the code of its tasks, then the driver that calls them, as one library.
//
//   auto code = CompileTasks(scheduled, "resnet50", builders, options);
//   auto plan = PlanCalls(model, tasks, code->needs);            // lang/model/plan_calls.h
//   auto library = LinkModel(model, *plan, *code, "resnet50", builders, options);
//
// Threads: any, as for BuilderPool.
#pragma once

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "backends/builder/pool.h"
#include "backends/model/driver.h"
#include "lang/model/plan_calls.h"
#include "lang/target/policies.h"

namespace kiln {

// A task as it is compiled.
struct ScheduledTask {
  Program program;
  bool contract = true;
  Policies policies = {};
};

// A function that upstream MLIR compiles (backends/lower/lower_foreign.h).
struct ForeignTask {
  std::string what;      // "scf.for (model.mlir:3:8)", for messages
  std::string module;    // MLIR text
  bool doubles = false;  // f64 in place of all other floats
};

struct ModelBuildOptions {
  // The machine that code is compiled for (backends/cpu/machine.h). An empty triple means this machine.
  std::string triple = "", cpu = "", features = "";
  BuildLimits limits = {.seconds = 120};  // for each task
  // On how many threads loops run whose iterations have temporaries of their own (docs/decisions/0024): 2 to 64.
  int pieces = 8;
  bool counts_calls = false;  // as DriverOf says
};

// What CompileTasks makes, in each list by task, then by foreign task.
struct TaskObjects {
  std::vector<TaskCode> code = {};
  std::vector<TaskNeeds> needs = {};
  std::vector<std::string> objects = {};
};

struct ModelLibrary {
  std::string shared_object = {};         // empty for another machine: linking needs that machine's libc
  std::string archive = {};               // a static library with the same functions
  std::string driver = {};                // the text of the driver
  std::vector<std::string> entries = {};  // the functions that it defines
  bool takes_threads = false;
};

// Compiles each task as the function NAME_tN, N its position, and each foreign one as NAME_fN. kFailedPrecondition if one
// cannot be built, with its name and the compiler's message; kCancelled if the builders were interrupted.
absl::StatusOr<TaskObjects> CompileTasks(absl::Span<const ScheduledTask> tasks, const std::string& name,
                                         BuilderPool& builders, const ModelBuildOptions& options = {},
                                         absl::Span<const ForeignTask> foreign = {});

// The texts that a library exports; empty: none. A shared library has NAME_profile_by_table only with `calls`.
struct LibraryTexts {
  std::string metadata = {}, calls = {};  // see DriverOf and ProfileDriverOf
};

// Compiles the driver of the plan and links everything. Errors as above.
absl::StatusOr<ModelLibrary> LinkModel(const Program& model, const ModelPlan& plan, const TaskObjects& tasks,
                                       const std::string& name, BuilderPool& builders,
                                       const ModelBuildOptions& options = {}, const LibraryTexts& texts = {});

}  // namespace kiln
