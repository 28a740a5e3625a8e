#include "api/internal/workers.h"

#include <filesystem>

#include "api/internal/store/open_store.h"
#include "backends/runner/pool.h"
#include "backends/workers/worker_process.h"

namespace kiln::api {

std::string ObjectFolder(const std::string& database) {
  std::error_code error;
  return std::filesystem::exists(database, error) && MayChange(database) ? database + ".objects" : "";
}

absl::StatusOr<Workers> FindWorkers(const std::string& folder) {
  if (!folder.empty())
    return Workers{folder + "/kiln-builder", folder + "/kiln-runner", folder + "/kiln-gpu-runner"};
  absl::StatusOr<std::string> builder = FindBuilder(), runner = FindRunner();
  if (!builder.ok()) return builder.status();
  if (!runner.ok()) return runner.status();
  return Workers{*std::move(builder), *std::move(runner), FindProgram("kiln-gpu-runner").value_or("")};
}

absl::StatusOr<std::unique_ptr<BuilderPool>> StartBuilder(const std::string& database,
                                                          const std::string& folder) {
  absl::StatusOr<Workers> workers = FindWorkers(folder);
  if (!workers.ok()) return workers.status();
  BuilderPoolOptions options;
  options.builder_path = std::move(workers->builder);
  options.object_folder = ObjectFolder(database);
  return BuilderPool::Start(options);
}

}  // namespace kiln::api
