// Checks that the calls of a model access only their own arrays. Runs the model's library as it is, and then the same
// tasks with each array of the plan in pages of its own, between pages that nobody may touch. Constants and inputs are
// read-only in both runs, prepared weights in the second. Any difference of a bit is an error.
//
//   const MemoryCheck check{.model = model, .plan = plan, .code = code, .name = "resnet50", ..};
//   auto results = CheckMemory(check, library.shared_object, builders, options);
//
// Both runs happen in a child process, on one thread, and take the memory of all arrays side by side.
#pragma once

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "backends/model/compile_model.h"

namespace kiln {

struct MemoryCheck {
  const Program& model;
  const ModelPlan& plan;
  const TaskObjects& code;
  std::string name;                           // of the library
  absl::Span<const std::string> tasks;        // their names, for messages
  absl::Span<const absl::string_view> given;  // the bytes of each input and constant, in order
  absl::Span<const ForeignCall> foreign = {};
};

struct CheckedRun {
  int status = 0;                         // what the function returned
  std::vector<std::string> results = {};  // the bytes of each, in order
};

// Runs the library with its own plan and with separate arrays, and returns what the library computed. kInternal if an
// array (with the call and the array) or the status differs between the runs, if bytes beside an array changed (with
// the array), if a call touches memory outside its arrays (with the call), or if a prepare phase finds no memory.
// kFailedPrecondition if the library itself does not run. Errors of LinkModel. Safe from any thread.
absl::StatusOr<CheckedRun> CheckMemory(const MemoryCheck& check, const std::string& shared_object,
                                       BuilderPool& builders, const ModelBuildOptions& options = {});

// Runs the model's library once in a child process, without checks, and returns its status and results.
// kFailedPrecondition if it does not run.
absl::StatusOr<CheckedRun> RunLibrary(const MemoryCheck& run, const std::string& shared_object);

}  // namespace kiln
