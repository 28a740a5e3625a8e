// Records are found by the hash of their workload: those of the files that come with Kiln never change.
#include <algorithm>
#include <filesystem>

#include "absl/strings/str_cat.h"
#include "backends/import/import.h"
#include "gtest/gtest.h"
#include "lang/hash.h"
#include "lang/outline.h"
#include "test_paths.h"
#include "tests/support/golden.h"

namespace kiln {
namespace {

// "FILE TASK HASH" for each task of each file of the folder.
std::string Hashes(const std::string& folder, bool models) {
  const std::string root = absl::StrCat(KILN_SOURCE_DIR, "/");
  std::vector<std::string> files;
  for (const auto& entry : std::filesystem::directory_iterator(root + folder))
    if (entry.path().extension() == ".mlir") files.push_back(entry.path().filename());
  std::sort(files.begin(), files.end());
  ImportOptions options;
  options.allow_boundaries = models;
  std::string lines;
  for (const std::string& file : files) {
    const auto imported = ImportFile(absl::StrCat(root, folder, "/", file), options);
    if (!imported.ok()) {
      absl::StrAppend(&lines, file, " is refused\n");
      continue;
    }
    const auto tasks = ExtractTasks(imported->program);
    EXPECT_TRUE(tasks.ok()) << file << ": " << tasks.status();
    if (!tasks.ok()) continue;
    for (const Task& task : *tasks)
      absl::StrAppend(&lines, file, " ", task.program.name, " ", ToString(HashOf(task.program)), "\n");
  }
  return lines;
}

TEST(WorkloadHashes, OfOperatorsAndModelsAreTheSame) {
  ExpectGolden("workload_hashes.txt",
               absl::StrCat(Hashes("tests/inputs/ops", false), Hashes("tests/inputs/models", true),
                            Hashes("bench/operators", false)));
}

}  // namespace
}  // namespace kiln
