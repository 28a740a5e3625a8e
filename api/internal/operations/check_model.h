// Implements `kiln build --check`: runs a library that was just built on drawn data. Checks that its calls keep to
// their arrays (backends/model/check_memory.h), and that its results are as near to those of the model in f64 as its
// types allow.
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
  const Input& input;  // `program` is what was planned; results are compared with those of `imported`
  const ModelPlan& plan;
  const TaskObjects& code;
  const ModelLibrary& library;
  std::string name;
  std::vector<std::string> tasks = {};            // names of the tasks
  std::vector<absl::string_view> constants = {};  // bytes of each constant, in order; empty: they are drawn
};

// Checks the library. If the model cannot be computed in f64, or an assertion of it fails on the drawn data, the result
// has a note in place of an error. kInternal as CheckMemory says; kFailedPrecondition if the error is above the limit.
absl::StatusOr<ModelAccuracy> CheckModel(const ModelToCheck& check, const Target& target,
                                         BuilderPool& builders, const ModelBuildOptions& options, Stop& stop);

}  // namespace kiln::api
