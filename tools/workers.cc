#include "tools/workers.h"

#include <filesystem>

#include "tools/common.h"

namespace kiln::tools {

std::string ObjectFolder(const std::string& database) {
  std::error_code error;
  return std::filesystem::exists(database, error) && MayChange(database) ? database + ".objects" : "";
}

absl::StatusOr<std::unique_ptr<BuilderPool>> StartBuilder(const std::string& database) {
  absl::StatusOr<std::string> path = FindBuilder();
  if (!path.ok()) return path.status();
  BuilderPoolOptions options;
  options.builder_path = *std::move(path);
  options.object_folder = ObjectFolder(database);
  return BuilderPool::Start(options);
}

}  // namespace kiln::tools
