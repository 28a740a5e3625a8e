// Finds the worker programs (kiln-builder, kiln-runner), starts builders, and names the folder of built objects.
#pragma once

#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "backends/builder/pool.h"

namespace kiln::api {

// Beside the database: FILE.objects, a folder (backends/builder/object_cache.h). Empty, which is nowhere,
// where there is no such database.
std::string ObjectFolder(const std::string& database);

struct Workers {
  std::string builder, runner;  // paths
};
// In `folder`; empty: where FindBuilder and FindRunner look.
absl::StatusOr<Workers> FindWorkers(const std::string& folder);

absl::StatusOr<std::unique_ptr<BuilderPool>> StartBuilder(const std::string& database,
                                                          const std::string& folder);

}  // namespace kiln::api
