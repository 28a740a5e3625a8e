#include "tools/input.h"

#include <filesystem>

#include "absl/strings/str_cat.h"

namespace kiln::tools {
namespace {

// Several tasks, one of them with a reduction.
bool IsModel(const std::vector<Task>& tasks) {
  if (tasks.size() < 2) return false;
  for (const Task& task : tasks) {
    for (const BlockNode& block : task.program.blocks) {
      if (block.monoid != kNone) return true;
    }
  }
  return false;
}

}  // namespace

absl::StatusOr<Input> LoadInput(const std::string& path) {
  std::error_code error;
  if (!std::filesystem::exists(path, error))
    return absl::NotFoundError(absl::StrCat(path, ": there is no such file"));
  if (std::filesystem::is_directory(path, error)) {
    return absl::InvalidArgumentError(
        absl::StrCat(path, ": is a directory, wanted a file with linalg on tensors"));
  }
  absl::StatusOr<Imported> whole = ImportFile(path);
  Input input;
  if (!whole.ok()) {
    ImportOptions options;
    options.allow_boundaries = true;
    const absl::Status refusal = whole.status();
    whole = ImportFile(path, options);
    if (!whole.ok()) return refusal;
    absl::StatusOr<std::vector<Task>> tasks = ExtractTasks(whole->program);
    if (!tasks.ok() || !IsModel(*tasks)) return refusal;
    input.boundaries = std::move(whole->boundaries);
    input.tasks = *std::move(tasks);
    return input;
  }
  absl::StatusOr<std::vector<Task>> tasks = ExtractTasks(whole->program);
  if (!tasks.ok()) return tasks.status();
  if ((*tasks)[0].program.blocks.empty()) {
    return absl::InvalidArgumentError(absl::StrCat(path, ": computes nothing that could be tuned"));
  }
  input.tasks = *std::move(tasks);
  return input;
}

}  // namespace kiln::tools
