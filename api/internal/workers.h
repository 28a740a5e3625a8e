// Finds the worker programs (kiln-builder, kiln-runner, kiln-gpu-runner), starts builders, and names the folder of built
// objects.
#pragma once

#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "backends/builder/pool.h"

namespace kiln::api {

// Returns the folder of built objects, FILE.objects beside the database (backends/builder/object_cache.h).
// Returns an empty path, which disables the cache, if there is no such database.
std::string ObjectFolder(const std::string& database);

struct Workers {
  std::string builder, runner, gpu_runner;  // paths; without programs for GPUs the last is empty
};
// Finds the workers in `folder`, or where FindBuilder and FindRunner look if it is empty.
absl::StatusOr<Workers> FindWorkers(const std::string& folder);

absl::StatusOr<std::unique_ptr<BuilderPool>> StartBuilder(const std::string& database,
                                                          const std::string& folder);

}  // namespace kiln::api
