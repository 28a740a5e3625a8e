// Builders for the subcommands that only compile.
#pragma once

#include <memory>

#include "absl/status/statusor.h"
#include "backends/builder/pool.h"

namespace kiln::tools {

absl::StatusOr<std::unique_ptr<BuilderPool>> StartBuilder();

}  // namespace kiln::tools
