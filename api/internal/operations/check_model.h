// `kiln build --check`: runs a library that was just built on drawn data. Its arrays keep to themselves
// (backends/model/check_memory.h), and its results are as near to those of the model in f64 as its types allow.
#pragma once

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "api/building.h"
#include "api/internal/input.h"
#include "api/internal/stop.h"
#include "backends/model/compile_model.h"
#include "lang/target/target.h"

namespace kiln::api {

struct ModelToCheck {
  const Input& input;  // its `imported` is what the results are compared with, its `program` was planned
  const ModelPlan& plan;
  const TaskObjects& code;
  const ModelLibrary& library;
  std::string name;
  std::vector<std::string> tasks = {};            // their names
  std::vector<absl::string_view> constants = {};  // of each, in order; empty: it is drawn
};

// Checks the library. If the model cannot be computed in f64, or an assertion of it fails on the drawn data, the result
// has a note in place of an error. kInternal as CheckMemory says; kFailedPrecondition if the error is above the limit.
absl::StatusOr<ModelAccuracy> CheckModel(const ModelToCheck& check, const Target& target,
                                         BuilderPool& builders, const ModelBuildOptions& options, Stop& stop);

}  // namespace kiln::api
