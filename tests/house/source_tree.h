// Reads all files of the repository, for tests that check sources and pages. Paths are relative to the root of the
// repository. Leaves out .git and what a build or `kiln tune` writes (build/, out/, databases).
#pragma once

#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/string_view.h"
#include "test_paths.h"

namespace kiln::house {

struct TextFile {
  std::string path;
  std::vector<std::string> lines;

  bool IsHeader() const { return absl::EndsWith(path, ".h"); }
  bool IsSource() const { return absl::EndsWith(path, ".h") || absl::EndsWith(path, ".cc"); }
};

inline bool IsDatabase(absl::string_view path) {
  return absl::EndsWith(path, ".db") || absl::EndsWith(path, ".db-wal") || absl::EndsWith(path, ".db-shm");
}

// Returns path and lines of every file of the repository, except .git, build/, out/ and databases.
inline std::vector<TextFile> ReadTree() {
  namespace fs = std::filesystem;
  const fs::path root(KILN_SOURCE_DIR);
  std::vector<TextFile> files;
  for (auto it = fs::recursive_directory_iterator(root); it != fs::recursive_directory_iterator(); ++it) {
    const std::string path = fs::relative(it->path(), root).generic_string();
    if (it->is_directory()) {
      if (path == ".git" || path == "build" || path == "out") it.disable_recursion_pending();
      continue;
    }
    if (path == ".git" || IsDatabase(path)) continue;  // in a worktree, .git is a file
    TextFile file{path, {}};
    std::ifstream in(it->path());
    for (std::string line; std::getline(in, line);) file.lines.push_back(line);
    files.push_back(std::move(file));
  }
  return files;
}

}  // namespace kiln::house
