#include <algorithm>
#include <filesystem>

#include "absl/strings/str_cat.h"
#include "backends/import/import.h"
#include "lang/base/check.h"
#include "lang/base/mixer.h"
#include "lang/text/hash.h"
#include "lang/text/text.h"
#include "test_paths.h"
#include "tests/baseline/parts.h"

namespace kiln::baseline {

std::string HashOfBytes(absl::string_view bytes) {
  Mixer mixer;
  for (const char c : bytes) mixer.Add(static_cast<unsigned char>(c));
  return ToString(mixer.Finish());
}

std::vector<FileTask> TasksOf(const std::string& folder, std::vector<std::string>* refused) {
  const std::string root = absl::StrCat(KILN_SOURCE_DIR, "/");
  std::vector<std::string> files;
  for (const auto& entry : std::filesystem::directory_iterator(root + folder))
    if (entry.path().extension() == ".mlir")
      files.push_back(absl::StrCat(folder, "/", entry.path().filename().string()));
  std::sort(files.begin(), files.end());
  ImportOptions options;
  options.allow_boundaries = true;
  std::vector<FileTask> tasks;
  for (const std::string& file : files) {
    const auto imported = ImportFile(root + file, options);
    auto extracted = imported.ok() ? ExtractTasks(imported->program) : imported.status();
    if (!extracted.ok()) {
      if (refused != nullptr) refused->push_back(absl::StrCat(file, " is refused"));
      continue;
    }
    for (Task& task : *extracted) tasks.push_back({file, std::move(task)});
  }
  return tasks;
}

Program OnlyTask(const std::string& file) {
  auto imported = ImportFile(absl::StrCat(KILN_SOURCE_DIR, "/", file));
  KILN_CHECK(imported.ok(), file, ": ", imported.status().ToString());
  auto tasks = ExtractTasks(imported->program);
  KILN_CHECK(tasks.ok(), file, ": ", tasks.status().ToString());
  KILN_CHECK(tasks->size() == 1, file, " has several tasks");
  return std::move(tasks->front().program);
}

void PrintWorkloads(std::ostream& out) {
  for (const char* folder : {"tests/inputs/ops", "tests/inputs/models", "tests/inputs/field",
                             "tests/inputs/unsupported", "bench/operators"}) {
    std::vector<std::string> refused;
    for (const auto& [file, task] : TasksOf(folder, &refused))
      out << file << " " << task.program.name << " " << ToString(HashOf(task.program)) << "\n"
          << ToString(task.program) << "\n";
    for (const std::string& line : refused) out << line << "\n";
  }
}

}  // namespace kiln::baseline
