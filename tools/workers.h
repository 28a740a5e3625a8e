// Builders for the subcommands that only compile, and where what is built is kept.
#pragma once

#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "backends/builder/pool.h"

namespace kiln::tools {

// Beside the database: FILE.objects, a folder (backends/builder/object_cache.h). Empty, which is nowhere,
// where there is no such database.
std::string ObjectFolder(const std::string& database);

absl::StatusOr<std::unique_ptr<BuilderPool>> StartBuilder(const std::string& database);

}  // namespace kiln::tools
