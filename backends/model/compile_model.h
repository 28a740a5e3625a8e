// Compiles a model to one library: first the code of its tasks, then the driver that calls them.
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

// A task to compile: its scheduled program and the options that change its rounding.
struct ScheduledTask {
  Program program;
  bool contract = true;
  Policies policies = {};
};

// A part of a model that cannot be a Program: upstream MLIR's passes compile it (backends/lower/lower_foreign.h).
struct ForeignTask {
  std::string what;      // "scf.for (model.mlir:3:8)", for messages
  std::string module;    // MLIR text
  bool doubles = false;  // f64 in place of all other floats
};

struct ModelBuildOptions {
  // The machine that code is compiled for (backends/cpu/machine.h). An empty triple means this machine.
  std::string triple = "", cpu = "", features = "";
  BuildLimits limits = {.seconds = 120};  // for each task, and for the driver
  // At most this many threads, 2 to 64, run a parallel loop whose iterations have temporaries of their own: each of
  // them gets a piece of the caller's memory (docs/decisions/0024).
  int pieces = 8;
  bool counts_calls = false;  // as DriverOf says
};

// The compiled code of a model's tasks and foreign tasks, and the memory that they need. Each list has an entry for
// each task, then one for each foreign task.
struct TaskObjects {
  std::vector<TaskCode> code = {};
  std::vector<TaskNeeds> needs = {};
  std::vector<std::string> objects = {};
};

struct ModelLibrary {
  std::string shared_object = {};         // empty for another machine: linking needs that machine's libc
  std::string archive = {};               // a static library with the same functions
  std::string driver = {};                // the text of the driver
  std::vector<std::string> entries = {};  // the functions that the driver defines
  bool takes_threads = false;
};

// Compiles each task to an object with the function NAME_tN, for task number N, and each foreign task with NAME_fN.
// kFailedPrecondition if a task cannot be built, with the task's name and the compiler's message; kCancelled if the
// builders were interrupted.
absl::StatusOr<TaskObjects> CompileTasks(absl::Span<const ScheduledTask> tasks, const std::string& name,
                                         BuilderPool& builders, const ModelBuildOptions& options = {},
                                         absl::Span<const ForeignTask> foreign = {});

// The texts that a model's library exports as strings (DriverOf and ProfileDriverOf); empty: none. Only with `calls`
// does a shared library have the function NAME_profile_by_table.
struct LibraryTexts {
  std::string metadata = {}, calls = {};  // see DriverOf and ProfileDriverOf
};

// Compiles the driver that makes the calls of the plan, and links it with the code of the tasks to an archive and, for
// this machine, a shared library. Errors: kFailedPrecondition if the driver cannot be built, kCancelled if the builders
// were interrupted, and those of linking.
absl::StatusOr<ModelLibrary> LinkModel(const Program& model, const ModelPlan& plan, const TaskObjects& tasks,
                                       const std::string& name, BuilderPool& builders,
                                       const ModelBuildOptions& options = {}, const LibraryTexts& texts = {});

}  // namespace kiln
