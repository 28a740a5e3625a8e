// Compiles a scheduled model into one library, and describes libraries.
//
//   auto whole = CompileWhole(input, *schedules, "dqn", *builders);   // tasks, plan, driver
//   KernelObject kernel = KernelOfModel(whole->described, whole->library.shared_object);
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "api/internal/input.h"
#include "api/internal/model/schedules.h"
#include "api/running.h"
#include "backends/builder/pool.h"
#include "backends/model/compile_model.h"
#include "backends/runner/runner.h"

namespace kiln::api {

// A call of the run phase, as the library describes it.
struct CallText {
  int number = 0;
  std::string task{}, schedule{};  // "record 12", "default" or "untuned"
};

// What a library says of itself (backends/model/driver.h).
struct LibraryText {
  std::string name{};
  int64_t weights_bytes = 0, arena_bytes = 0;
  std::vector<Parameter> parameters{};  // of the model in order, constants included
  std::vector<CallText> calls{};        // those that can be timed: of shared libraries alone
};

struct WholeModel {
  ModelPlan plan;
  int64_t alive_bytes = 0;  // the most of the arena that is needed at once, as the checker of plans finds it
  TaskObjects code;         // by task
  ModelLibrary library;
  LibraryText described;
};

// Returns what is compiled for each boundary of the input, in order.
std::vector<ForeignTask> ForeignTasksOf(const Input& input);

// Returns the value of ModelBuildOptions::pieces for libraries that run here.
int PiecesHere();

// Compiles the tasks, plans the calls, checks the plan and links the driver. Errors: see compile_model.h; kInternal if
// the plan is wrong.
absl::StatusOr<WholeModel> CompileWhole(const Input& input, const ModelSchedules& schedules,
                                        const std::string& name, BuilderPool& builders,
                                        const ModelBuildOptions& options = {.pieces = PiecesHere()});

// Reads what the bytes of a shared library say of themselves. `path` is for messages.
absl::StatusOr<LibraryText> DescriptionOf(const std::string& path, const std::string& shared_object);

// Returns the library as a kernel for runners. Its parameters are the model's, then the weights, which its prepare
// phase writes from drawn constants, then the arena. The tolerance of its outputs is infinite, so no comparison fails.
KernelObject KernelOfModel(const LibraryText& described, std::string shared_object);

// Returns "record 12", "default", "untuned" or "foreign".
std::string ScheduleText(const BuiltTask& task);

// Returns how to time each call of the library, in so many runs.
ProfiledRuns ProfileOf(const LibraryText& described, int runs);
// Returns the median of each call's times over the runs, with its interval.
std::vector<CallTimes> CallTimesOf(const LibraryText& described,
                                   const std::vector<std::vector<double>>& call_seconds);

// Returns the most memory, in bytes, that a run of the library may take.
int64_t RunBytesOf(const LibraryText& described);

}  // namespace kiln::api
