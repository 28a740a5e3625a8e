// For tests that compare pages of docs/ with the code: reads lines and code blocks of a page. ExpectTable compares a
// table of a page with rows that the code makes. With --update-goldens, it writes them to the page.
#pragma once

#include <fstream>
#include <string>
#include <vector>

#include "test_paths.h"
#include "testing/golden.h"

namespace kiln {

// Returns the lines of a file of the repository; none if it cannot be read.
inline std::vector<std::string> LinesOf(const std::string& path) {
  std::ifstream in(std::string(KILN_SOURCE_DIR) + "/" + path);
  std::vector<std::string> lines;
  for (std::string line; std::getline(in, line);) lines.push_back(line);
  return lines;
}

// Returns the contents of each code block of a page whose first line is exactly ```KIND, without its first and last
// line.
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

// Expects that the table of the page whose first line is `head` has exactly these rows, each such as "| `a` | 1 |".
// Fails the test if the page has no such table.
inline void ExpectTable(const std::string& page, const std::string& head,
                        const std::vector<std::string>& rows) {
  const std::vector<std::string> lines = LinesOf(page);
  std::string expected;
  bool found = false;
  for (size_t i = 0; i < lines.size(); ++i) {
    expected += lines[i] + "\n";
    if (lines[i] != head) continue;
    found = true;
    expected += lines[++i] + "\n";  // |---|
    for (const std::string& row : rows) expected += row + "\n";
    while (i + 1 < lines.size() && lines[i + 1].starts_with("|")) ++i;
  }
  ASSERT_TRUE(found) << page << " has no table " << head;
  ExpectGoldenFile(std::string(KILN_SOURCE_DIR) + "/" + page, expected);
}

}  // namespace kiln
