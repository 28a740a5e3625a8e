#include "tools/workers.h"

namespace kiln::tools {

absl::StatusOr<std::unique_ptr<BuilderPool>> StartBuilder() {
  absl::StatusOr<std::string> path = FindBuilder();
  if (!path.ok()) return path.status();
  BuilderPoolOptions options;
  options.builder_path = *std::move(path);
  return BuilderPool::Start(options);
}

}  // namespace kiln::tools
