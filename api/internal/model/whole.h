// Compiles a scheduled model into one library, and reads the description that such a library contains.
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

// A call of the run phase of a model, as the description in its library lists it.
struct CallText {
  int number = 0;
  std::string task{}, schedule{};  // "record 12", "default", "untuned" or "foreign"
};

// The description of a model that its built library contains (backends/model/driver.h).
struct LibraryText {
  std::string name{};
  int64_t weights_bytes = 0, arena_bytes = 0;
  std::vector<Parameter> parameters{};  // of the model in order, constants included
  std::vector<CallText> calls{};        // calls that can be timed; only shared libraries have them
};

struct WholeModel {
  ModelPlan plan;
  int64_t alive_bytes = 0;  // the most of the arena that is alive at once, as the checker of plans finds it
  TaskObjects code;         // by task
  ModelLibrary library;
  LibraryText described;
};

// Returns the code to compile for each boundary of the input (an operation that Kiln cannot express), in order.
std::vector<ForeignTask> ForeignTasksOf(const Input& input);

// Returns ModelBuildOptions::pieces for libraries that run here: the number of usable cores, but at least 2 and at most
// 64.
int PiecesHere();

// Compiles the tasks, plans the calls, checks the plan and links the driver. Errors: see compile_model.h; kInternal if
// the plan is wrong.
absl::StatusOr<WholeModel> CompileWhole(const Input& input, const ModelSchedules& schedules,
                                        const std::string& name, BuilderPool& builders,
                                        const ModelBuildOptions& options = {.pieces = PiecesHere()});

// Reads the description in the bytes of a model's shared library. `path` is for messages. A Mistake if there is none,
// kDataLoss if it is malformed.
absl::StatusOr<LibraryText> DescriptionOf(const std::string& path, const std::string& shared_object);

// Returns the library as a kernel for runners. Its parameters are the model's, then the weights, which its prepare
// phase writes from drawn constants, then the arena. The tolerance of its outputs is infinite, so no comparison fails.
KernelObject KernelOfModel(const LibraryText& described, std::string shared_object);

// Returns how a task of a model is scheduled: "record 12", "default", "untuned" or "foreign".
std::string ScheduleText(const BuiltTask& task);

// Returns a request to time each call of the library in `runs` runs.
ProfiledRuns ProfileOf(const LibraryText& described, int runs);
// Returns the median time of each call over the runs, with its interval. `call_seconds` has the seconds by run, then by
// call.
std::vector<CallTimes> CallTimesOf(const LibraryText& described,
                                   const std::vector<std::vector<double>>& call_seconds);

// Returns the limit of the memory, in bytes, for a run of the library: 2 * weights + arena + 8 GiB.
int64_t RunBytesOf(const LibraryText& described);

}  // namespace kiln::api
