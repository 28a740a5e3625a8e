// Finds the worker programs (kiln-builder, kiln-runner, kiln-gpu-runner), starts builders, and names the folder of the
// object cache.
#pragma once

#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "backends/builder/pool.h"

namespace kiln::api {

// Returns the folder of the object cache of a database FILE: FILE.objects (backends/builder/object_cache.h). Returns
// "", which disables the cache, if FILE does not exist or this user may not write it and its folder.
std::string ObjectFolder(const std::string& database);

struct Workers {
  std::string builder, runner, gpu_runner;  // paths; without programs for GPUs the last is empty
};
// Returns the paths of the worker programs: in `folder`, without looking for them, or, if it is empty, where
// FindBuilder and FindRunner find them. Then kiln-gpu-runner may be missing, and its path is empty.
absl::StatusOr<Workers> FindWorkers(const std::string& folder);

absl::StatusOr<std::unique_ptr<BuilderPool>> StartBuilder(const std::string& database,
                                                          const std::string& folder);

}  // namespace kiln::api
