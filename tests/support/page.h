// Lets tests read pages of docs/: lines, and the contents of code blocks.
#pragma once

#include <fstream>
#include <string>
#include <vector>

#include "test_paths.h"

namespace kiln {

// The lines of a file of the repository.
inline std::vector<std::string> LinesOf(const std::string& path) {
  std::ifstream in(std::string(KILN_SOURCE_DIR) + "/" + path);
  std::vector<std::string> lines;
  for (std::string line; std::getline(in, line);) lines.push_back(line);
  return lines;
}

// The contents of the page's code blocks of one kind (```KIND); each line ends with a newline.
inline std::vector<std::string> Fenced(const std::string& path, const std::string& kind) {
  std::vector<std::string> blocks;
  bool inside = false;
  for (const std::string& line : LinesOf(path)) {
    if (inside && line == "```") {
      inside = false;
    } else if (inside) {
      blocks.back() += line + "\n";
    } else if (line == "```" + kind) {
      inside = true;
      blocks.emplace_back();
    }
  }
  return blocks;
}

}  // namespace kiln
